export { SessionsModule } from './sessions.module.js';
export { SESSION_NOT_FOUND, SessionsService, type SessionDetails } from './sessions.service.js';
