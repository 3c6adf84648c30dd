export { SESSION_NOT_FOUND } from './session-errors.js';
export { SessionsModule } from './sessions.module.js';
export { SessionsService, type SessionDetails } from './sessions.service.js';
