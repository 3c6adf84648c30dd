import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { PasskeyLoginPage } from './login/passkey-login.pages.js';
import { PasskeysPage } from './passkeys/account-passkeys.pages.js';
import { AccountEmails, AccountLog } from './account-emails.js';
import { AccountPage } from './account/account.pages.js';
import { KnownBrowsersRepository } from './browsers/known-browsers.repository.js';
import { LoginPage } from './login/login.pages.js';
import { LoginAgainPage } from './login/login-again.pages.js';
import { LoginLimits } from './login-limits.js';
import { LoginService } from './login/login.service.js';
import { LoginOpeningService } from './login/login-opening.service.js';
import { PasskeysService } from './passkeys/passkeys.service.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { PasswordResetsJob } from './passwords/password-resets.job.js';
import { PasswordResetsService } from './passwords/password-resets.service.js';
import { PasswordResetPage } from './login/password-reset.pages.js';
import { PasswordsService } from './passwords/passwords.service.js';
import { SecondFactorPage } from './second-factor/second-factor.pages.js';
import { SecondFactorService } from './second-factor/second-factor.service.js';
import { CurrentSessions } from './sessions/current-sessions.js';
import { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
import { UserLoginsService } from './user-logins.service.js';
import './dashboard-login.capability.js';

/** Logging in: sessions, passwords, passkeys, the second factor, the account and their pages. */
@Module({
  imports: [AuditLogsModule, DashboardUsersModule],
  controllers: [
    LoginPage,
    LoginAgainPage,
    PasskeyLoginPage,
    PasswordResetPage,
    AccountPage,
    SecondFactorPage,
    PasskeysPage,
  ],
  providers: [
    CurrentSessions,
    DashboardSessionsService,
    KnownBrowsersRepository,
    LoginService,
    LoginOpeningService,
    LoginLimits,
    SecondFactorService,
    PasskeysService,
    PasswordLinksService,
    PasswordResetsService,
    PasswordResetsJob,
    PasswordsService,
    AccountEmails,
    AccountLog,
    UserLoginsService,
  ],
  exports: [CurrentSessions, DashboardSessionsService, LoginService, UserLoginsService],
})
export class DashboardLoginModule {}
