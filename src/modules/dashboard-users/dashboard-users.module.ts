import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DashboardSessionVerifier } from '../../infrastructure/auth/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AccessGrant } from './access-grants/access-grant.entity.js';
import { LoginLimits } from './login/login-limits.js';
import { LoginService } from './login/login.service.js';
import { SecondFactorLoginService } from './login/second-factor-login.service.js';
import { PasswordChangeService } from './passwords/password-change.service.js';
import { PasswordCheck } from './passwords/password-check.js';
import { PasswordConfirmation } from './passwords/password-confirmation.js';
import { PasswordLink } from './passwords/password-link.entity.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { PasswordMails } from './passwords/password-mails.js';
import { PasswordsRepository } from './passwords/passwords.repository.js';
import { ResetLimits } from './passwords/reset-limits.js';
import { RecoveryCode } from './second-factor/recovery-code.entity.js';
import { SecondFactorRepository } from './second-factor/second-factor.repository.js';
import { SecondFactorService } from './second-factor/second-factor.service.js';
import { DashboardSession } from './sessions/dashboard-session.entity.js';
import { DashboardSessionsRepository } from './sessions/dashboard-sessions.repository.js';
import { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
import { DashboardUser } from './users/dashboard-user.entity.js';
import { DashboardUsersRepository } from './users/dashboard-users.repository.js';
import { DashboardUsersService } from './users/dashboard-users.service.js';

const USERS = [DashboardUsersService, DashboardUsersRepository];
const SESSIONS = [DashboardSessionsService, DashboardSessionsRepository];
const LOGIN = [LoginService, LoginLimits, SecondFactorLoginService];
const SECOND_FACTOR = [SecondFactorService, SecondFactorRepository];
const PASSWORDS = [
  PasswordLinksService,
  PasswordChangeService,
  PasswordCheck,
  PasswordConfirmation,
  PasswordMails,
  PasswordsRepository,
  ResetLimits,
];

/** The people and their logins. Global, because the guards ask for the port of sessions everywhere. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forFeature([DashboardUser, DashboardSession, AccessGrant, RecoveryCode, PasswordLink]),
    AuditLogsModule,
  ],
  providers: [
    ...USERS,
    ...SESSIONS,
    ...LOGIN,
    ...SECOND_FACTOR,
    ...PASSWORDS,
    { provide: DashboardSessionVerifier, useExisting: DashboardSessionsService },
  ],
  exports: [
    DashboardUsersService,
    DashboardUsersRepository,
    DashboardSessionsService,
    DashboardSessionsRepository,
    DashboardSessionVerifier,
    LoginService,
    SecondFactorLoginService,
    SecondFactorService,
    PasswordLinksService,
    PasswordChangeService,
  ],
})
export class DashboardUsersModule {}
