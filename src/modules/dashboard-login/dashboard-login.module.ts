import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { PasskeyLoginController, PasskeysController } from './passkeys/passkeys.controller.js';
import { AccountEmails, AccountLog } from './account-emails.js';
import { AccountController } from './account/account.pages.js';
import { KnownBrowsersRepository } from './browsers/known-browsers.repository.js';
import { LoginController } from './login/login.pages.js';
import { LoginLimits } from './login/login-limits.js';
import { LoginService } from './login/login.service.js';
import { PasskeysService } from './passkeys/passkeys.service.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { PasswordResetController } from './passwords/password-reset.pages.js';
import { PasswordsService } from './passwords/passwords.service.js';
import { SecondFactorController } from './second-factor/second-factor.pages.js';
import { SecondFactorService } from './second-factor/second-factor.service.js';
import { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
import { UserLoginsService } from './user-logins.service.js';

@Module({
  imports: [AuditLogsModule, DashboardUsersModule],
  controllers: [
    LoginController,
    PasskeyLoginController,
    PasswordResetController,
    AccountController,
    SecondFactorController,
    PasskeysController,
  ],
  providers: [
    DashboardSessionsService,
    KnownBrowsersRepository,
    LoginService,
    LoginLimits,
    SecondFactorService,
    PasskeysService,
    PasswordLinksService,
    PasswordsService,
    AccountEmails,
    AccountLog,
    UserLoginsService,
  ],
  exports: [DashboardSessionsService, LoginService, UserLoginsService],
})
export class DashboardLoginModule {}
