export { SessionOperationsModule, SessionsModule } from './sessions.module.js';
export { Sessions, type SessionDetails } from './sessions.service.js';
