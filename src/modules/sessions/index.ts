export { SessionsModule } from './sessions.module.js';
export { SessionsRepository, type UserSession } from './sessions.repository.js';
export { SESSION_NOT_FOUND } from './sessions.dto.js';
export { SessionsService, type SessionDetails } from './sessions.service.js';
