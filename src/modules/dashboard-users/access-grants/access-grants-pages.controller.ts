import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { pageOf } from '../page-of-list.js';
import { UserAdministrationService } from '../users/user-administration.service.js';
import { CreateAccessGrantRequest } from './access-grants.dto.js';
import { grantsPage, GRANTS_PATH, newGrantPage, revokePage } from './access-grants.pages.js';
import { AccessGrantsService } from './access-grants.service.js';

/** Email addresses that the form suggests, so that the page stays small. */
const MAX_SUGGESTIONS = 200;

@Controller('dashboard/access-grants')
export class AccessGrantsPagesController {
  constructor(
    private readonly grants: AccessGrantsService,
    private readonly users: UserAdministrationService,
  ) {}

  /** @param cursor the ID of the last grant before this page */
  @Get()
  @DashboardPage('listAccessGrants')
  async list(@CurrentActor() actor: DashboardActor, @Query('cursor') cursor: unknown): Promise<PageResponse> {
    const { shown, nextCursor } = pageOf(await this.grants.list(actor), cursor);
    return grantsPage(actor, shown, nextCursor);
  }

  @Get('new')
  @DashboardPage('createAccessGrant')
  async startGranting(
    @CurrentActor() actor: DashboardActor,
    @Query('email') email: unknown,
  ): Promise<PageResponse> {
    const value = typeof email === 'string' ? email : undefined;
    return newGrantPage(actor, await this.suggestions(actor), value);
  }

  @Post('new')
  @DashboardAction('createAccessGrant')
  grant(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const user_id = await this.userIdIn(actor, form);
        const more = { user_id, expires_in: Number(form.get('expires_in')) };
        await this.grants.create(actor, requestFrom(CreateAccessGrantRequest, form, more));
        return { redirectTo: `${GRANTS_PATH}?done=granted` };
      },
      async () => newGrantPage(actor, await this.suggestions(actor)),
    );
  }

  @Get(':id/revoke')
  @DashboardPage('revokeAccessGrant')
  async startRevoking(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return revokePage(await this.grants.get(actor, id));
  }

  @Post(':id/revoke')
  @DashboardAction('revokeAccessGrant')
  async revoke(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    const grant = await this.grants.get(actor, id);
    return submitted(
      async () => {
        await this.grants.revoke(actor, id);
        return { redirectTo: `${GRANTS_PATH}?done=revoked` };
      },
      () => revokePage(grant),
    );
  }

  /** The form names users by their email address, and the operation by their ID. */
  private async userIdIn(actor: DashboardActor, form: FormFields): Promise<string> {
    const email = form.get('email')?.trim().toLowerCase();
    const user = (await this.users.list(actor)).find((each) => each.email === email);
    if (!user) throw INVALID_FIELD.error('No user of your organization has this email address.');
    return user.id;
  }

  private async suggestions(actor: DashboardActor): Promise<string[]> {
    const users = await this.users.list(actor);
    return users
      .filter(({ id, role, disabled }) => id !== actor.userId && role !== 'owner' && !disabled)
      .slice(0, MAX_SUGGESTIONS)
      .map(({ email }) => email);
  }
}
