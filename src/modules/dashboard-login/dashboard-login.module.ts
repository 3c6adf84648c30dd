import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { AccountController } from './account/account.controller.js';
import { AccountPagesService } from './account/account-pages.service.js';
import { KnownBrowser } from './browsers/known-browser.entity.js';
import { KnownBrowsersRepository } from './browsers/known-browsers.repository.js';
import { KnownBrowsersService } from './browsers/known-browsers.service.js';
import { LoginController } from './login/login.controller.js';
import { LoginPagesService } from './login/login-pages.service.js';
import { LoginLimits } from './login/login-limits.js';
import { LoginService } from './login/login.service.js';
import { SecondFactorLoginService } from './login/second-factor-login.service.js';
import { PasswordChangeService } from './passwords/password-change.service.js';
import { PasswordCheck } from './passwords/password-check.js';
import { PasswordConfirmation } from './passwords/password-confirmation.js';
import { PasswordLink } from './passwords/password-link.entity.js';
import { PasswordLinksRepository } from './passwords/password-links.repository.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { AccountEmails } from './account-emails.js';
import { PasswordResetController } from './passwords/password-reset.controller.js';
import { PasswordResetPagesService } from './passwords/password-reset-pages.service.js';
import { ResetLimits } from './passwords/reset-limits.js';
import { RefusedAttempts } from './refused-attempts.js';
import { RecoveryCode } from './second-factor/recovery-code.entity.js';
import { SecondFactorController } from './second-factor/second-factor.controller.js';
import { SecondFactorPagesService } from './second-factor/second-factor-pages.service.js';
import { SecondFactorRepository } from './second-factor/second-factor.repository.js';
import { SecondFactorService } from './second-factor/second-factor.service.js';
import { DashboardSession } from './sessions/dashboard-session.entity.js';
import { DashboardSessionsRepository } from './sessions/dashboard-sessions.repository.js';
import { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
import { UserLoginsService } from './user-logins.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([DashboardSession, RecoveryCode, PasswordLink, KnownBrowser]),
    AuditLogsModule,
    DashboardUsersModule,
  ],
  controllers: [LoginController, PasswordResetController, AccountController, SecondFactorController],
  providers: [
    DashboardSessionsService,
    DashboardSessionsRepository,
    KnownBrowsersService,
    KnownBrowsersRepository,
    LoginService,
    LoginLimits,
    SecondFactorLoginService,
    SecondFactorService,
    SecondFactorRepository,
    PasswordLinksService,
    PasswordLinksRepository,
    PasswordChangeService,
    PasswordCheck,
    PasswordConfirmation,
    AccountEmails,
    RefusedAttempts,
    ResetLimits,

    UserLoginsService,
    LoginPagesService,
    PasswordResetPagesService,
    AccountPagesService,
    SecondFactorPagesService,
  ],
  exports: [DashboardSessionsService, UserLoginsService],
})
export class DashboardLoginModule {}
