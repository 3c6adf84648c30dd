import { Controller, Get, Post } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, FormBody, type PageResponse } from '../../../infrastructure/pages/index.js';
import { DashboardUsersRepository, PasswordRules } from '../../dashboard-users/index.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { SecondFactorService } from '../second-factor/second-factor.service.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { accountPage, passwordChangedPage, passwordPage } from './account.pages.js';

const ACCOUNT: PageResponse = { redirectTo: '/account' };

@Controller('account')
export class AccountController {
  constructor(
    private readonly users: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsService,
    private readonly secondFactor: SecondFactorService,
    private readonly passkeys: PasskeysService,
    private readonly passwordRules: PasswordRules,
    private readonly passwords: PasswordsService,
  ) {}

  @Get()
  @PageRoute({ login: true })
  async show(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    const [organization, { enabledAt }, passkeys, sessions] = await Promise.all([
      this.users.organizationName(actor.organizationId),
      this.secondFactor.state(actor.userId),
      this.passkeys.count(actor.userId),
      this.sessions.list(actor.userId),
    ]);
    return accountPage({ actor, organization, hasSecondFactor: enabledAt !== null, passkeys, sessions });
  }

  @Post('sessions/end')
  @PageRoute({ login: true, form: true })
  async endSession(
    @CurrentActor() actor: DashboardActor,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const id = form.get('session');
    if (isUUID(id)) await this.sessions.endOne(actor, id as string);
    return ACCOUNT;
  }

  @Post('sessions/end-others')
  @PageRoute({ login: true, form: true })
  async endOtherSessions(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    const { credential } = actor;
    if (credential.kind === 'session') await this.sessions.endAllOtherAccess(actor, credential.sessionId);
    return ACCOUNT;
  }

  @Get('password')
  @PageRoute({ login: true })
  askPassword(@CurrentActor() { email }: DashboardActor): PageResponse {
    return passwordPage(email);
  }

  @Post('password')
  @PageRoute({ login: true, form: true })
  async changePassword(
    @CurrentActor() actor: DashboardActor,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const { email } = actor;
    const newPassword = form.get('new_password') ?? '';
    const error = await this.passwordRules.problemWith(newPassword, actor);
    if (error !== undefined) return passwordPage(email, false, error);
    const isChanged = await this.passwords.change(actor, form.get('current_password') ?? '', newPassword);
    return isChanged ? { redirectTo: '/account/password/changed' } : passwordPage(email, true);
  }

  @Get('password/changed')
  @PageRoute({ login: true })
  passwordChanged(): PageResponse {
    return passwordChangedPage();
  }
}
