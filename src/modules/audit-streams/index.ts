export { stateOf } from './audit-stream.entity.js';
export { AuditStreamsModule } from './audit-streams.module.js';
export { AuditStreamsService } from './audit-streams.service.js';
