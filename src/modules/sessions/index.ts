export { SessionsModule } from './sessions.module.js';
export {
  REQUIRED_SESSION,
  SessionsRepository,
  type SessionDetails,
  type UserSession,
} from './sessions.repository.js';
export { SESSION_NOT_FOUND } from './sessions-errors.js';
export { SessionsService } from './sessions.service.js';
