export { SessionsModule } from './sessions.module.js';
export { SessionsRepository, type SessionDetails, type UserSession } from './sessions.repository.js';
export { SESSION_NOT_FOUND } from './sessions.dto.js';
export { SessionsService } from './sessions.service.js';
