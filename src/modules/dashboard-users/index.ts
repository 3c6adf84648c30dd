export { DashboardUsersModule } from './dashboard-users.module.js';
export { EmailsRepository } from './emails/emails.repository.js';
export { AdministratorEmails } from './users/administrator-emails.js';
export {
  hasExpiredPassword,
  INVITATION_LIFETIME,
  type DashboardUser,
} from './users/dashboard-user.entity.js';
export { DashboardUsersRepository, EmailTakenError } from './users/dashboard-users.repository.js';
export {
  DashboardUsersService,
  type AddedDashboardUser,
  type PreparedDashboardUser,
} from './users/dashboard-users.service.js';
export {
  generatePassword,
  hashPassword,
  matchesHash,
  MIN_PASSWORD_LENGTH,
  PasswordRules,
} from './users/password-rules.js';
export { ROLE_NAMES, roleInWords } from './roles.js';
export {
  ProviderLinks,
  UserAdministrationService,
  UserLogins,
  type Inviter,
} from './users/user-administration.service.js';
export { USER_PERMISSIONS } from './dashboard-users.capability.js';
