import { Module } from '@nestjs/common';
import { AccountController } from './account/account.controller.js';
import { AccountFlow } from './account/account.flow.js';
import { DashboardUsersModule } from './dashboard-users.module.js';
import { LoginController } from './login/login.controller.js';
import { LoginFlow } from './login/login.flow.js';
import { PasswordResetController } from './passwords/password-reset.controller.js';
import { PasswordResetFlow } from './passwords/password-reset.flow.js';
import { SecondFactorController } from './second-factor/second-factor.controller.js';
import { SecondFactorFlow } from './second-factor/second-factor.flow.js';

/** The pages of logins and accounts, apart: only where the dashboard is served. */
@Module({
  imports: [DashboardUsersModule],
  controllers: [LoginController, PasswordResetController, AccountController, SecondFactorController],
  providers: [LoginFlow, PasswordResetFlow, AccountFlow, SecondFactorFlow],
})
export class DashboardPagesModule {}
