import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import type { PageResponse } from '../../../infrastructure/pages/index.js';
import { DashboardUsersService, PasswordRules } from '../../dashboard-users/index.js';
import { PasswordChangeService } from '../passwords/password-change.service.js';
import { SecondFactorService } from '../second-factor/second-factor.service.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { accountPage, passwordPage } from './account.pages.js';

const ACCOUNT: PageResponse = { redirectTo: '/account' };

/** The pages of a user's own account. */
@Injectable()
export class AccountPagesService {
  constructor(
    private readonly users: DashboardUsersService,
    private readonly sessions: DashboardSessionsService,
    private readonly secondFactor: SecondFactorService,
    private readonly passwordRules: PasswordRules,
    private readonly passwordChange: PasswordChangeService,
  ) {}

  async show(actor: DashboardActor): Promise<PageResponse> {
    const [organization, { enabledAt }, sessions] = await Promise.all([
      this.users.organizationName(actor.organizationId),
      this.secondFactor.state(actor.userId),
      this.sessions.list(actor.userId),
    ]);
    return accountPage({ actor, organization, hasSecondFactor: enabledAt !== null, sessions });
  }

  async endSession(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    const id = form.get('session');
    if (isUUID(id)) await this.sessions.endOne(actor, id as string);
    return ACCOUNT;
  }

  async endOtherSessions(actor: DashboardActor): Promise<PageResponse> {
    const { credential } = actor;
    if (credential.kind === 'session') await this.sessions.endAllOtherAccess(actor, credential.sessionId);
    return ACCOUNT;
  }

  async changePassword(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    const { email } = actor;
    const newPassword = form.get('new_password') ?? '';
    const error = await this.passwordRules.problemWith(newPassword, actor);
    if (error !== undefined) return passwordPage({ email, error });
    const isChanged = await this.passwordChange.change(
      actor,
      form.get('current_password') ?? '',
      newPassword,
    );
    return isChanged ? { redirectTo: '/account/password/changed' } : passwordPage({ email, isRefused: true });
  }
}
