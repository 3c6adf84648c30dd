export { WebhookStreamModule } from './webhook-stream.module.js';
