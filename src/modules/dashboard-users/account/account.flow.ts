import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardCaller } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import type { PageAnswer } from '../../../infrastructure/pages/index.js';
import { faultOfNewPassword } from '../passwords/new-password.js';
import { PasswordChange } from '../passwords/password-change.service.js';
import { SecondFactor } from '../second-factor/second-factor.service.js';
import { DashboardSessions } from '../sessions/dashboard-sessions.service.js';
import { DashboardUsersService } from '../users/dashboard-users.service.js';
import { accountPage, passwordChangedPage, passwordPage } from './account.pages.js';

const ACCOUNT: PageAnswer = { redirectTo: '/account' };

/** What a user sees and changes of their own account. */
@Injectable()
export class AccountFlow {
  constructor(
    private readonly users: DashboardUsersService,
    private readonly sessions: DashboardSessions,
    private readonly secondFactor: SecondFactor,
    private readonly passwordChange: PasswordChange,
  ) {}

  async show(caller: DashboardCaller): Promise<PageAnswer> {
    const [organization, { enabledAt }, sessions] = await Promise.all([
      this.users.organizationName(caller.organizationId),
      this.secondFactor.state(caller.userId),
      this.sessions.ofUser(caller.userId),
    ]);
    return accountPage({ caller, organization, hasSecondFactor: enabledAt !== null, sessions });
  }

  async endSession(caller: DashboardCaller, form: FormFields): Promise<PageAnswer> {
    const id = form.get('session');
    if (isUUID(id)) await this.sessions.endOne(caller.userId, id as string);
    return ACCOUNT;
  }

  async endOtherSessions({ userId, credential }: DashboardCaller): Promise<PageAnswer> {
    if (credential.kind === 'session') await this.sessions.endOthers(userId, credential.sessionId);
    return ACCOUNT;
  }

  askPassword({ email }: DashboardCaller): PageAnswer {
    return passwordPage({ email });
  }

  async changePassword(caller: DashboardCaller, form: FormFields): Promise<PageAnswer> {
    const { email } = caller;
    const newPassword = form.get('new_password');
    const fault = faultOfNewPassword(newPassword);
    if (fault !== undefined || newPassword === undefined) return passwordPage({ email, fault });
    const isChanged = await this.passwordChange.change(
      caller,
      form.get('current_password') ?? '',
      newPassword,
    );
    return isChanged ? { redirectTo: '/account/password/changed' } : passwordPage({ email, isRefused: true });
  }

  passwordChanged(): PageAnswer {
    return passwordChangedPage();
  }
}
