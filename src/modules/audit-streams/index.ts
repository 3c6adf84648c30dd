export { AuditStreamsModule } from './audit-streams.module.js';
