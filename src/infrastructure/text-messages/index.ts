export { TextMessages } from './text-messages.js';
export { TextMessagesConfiguration } from './text-messages.configuration.js';
export { TextMessagesModule } from './text-messages.module.js';
export { checkTwilio } from './twilio.text-messages.js';
