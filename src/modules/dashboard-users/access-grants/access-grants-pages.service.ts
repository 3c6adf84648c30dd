import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { requestFrom, submitted, type PageResponse } from '../../../infrastructure/pages/index.js';
import { UserAdministrationService } from '../users/user-administration.service.js';
import { CreateAccessGrantRequest } from './access-grants.dto.js';
import { AccessGrantsService } from './access-grants.service.js';
import { grantsPage, GRANTS_PATH, newGrantPage, revokePage } from './access-grants.pages.js';

/** Grants of one page of the list, which has at most 200. */
const GRANTS_PER_PAGE = 50;
/** Email addresses that the form suggests, so that the page stays small. */
const MAX_SUGGESTIONS = 200;

/** The pages about access grants. */
@Injectable()
export class AccessGrantsPagesService {
  constructor(
    private readonly grants: AccessGrantsService,
    private readonly users: UserAdministrationService,
  ) {}

  /** @param cursor the ID of the last grant before this page */
  async list(actor: DashboardActor, cursor: unknown): Promise<PageResponse> {
    const all = await this.grants.list(actor);
    const start = all.findIndex(({ id }) => id === cursor) + 1;
    const shown = all.slice(start, start + GRANTS_PER_PAGE);
    const hasMore = all.length > start + GRANTS_PER_PAGE;
    return grantsPage(actor, shown, hasMore ? (shown.at(-1)?.id ?? null) : null);
  }

  async startGranting(actor: DashboardActor, email: unknown): Promise<PageResponse> {
    const value = typeof email === 'string' ? email : undefined;
    return newGrantPage({ actor, emails: await this.suggestions(actor), email: value });
  }

  grant(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const user_id = await this.userIdIn(actor, form);
        const more = { user_id, expires_in: Number(form.get('expires_in')) };
        await this.grants.create(actor, requestFrom(CreateAccessGrantRequest, form, more));
        return { redirectTo: `${GRANTS_PATH}?done=granted` };
      },
      async (problem) =>
        newGrantPage({
          actor,
          emails: await this.suggestions(actor),
          email: form.get('email'),
          role: form.get('role'),
          reason: form.get('reason'),
          expiresIn: form.get('expires_in'),
          problem,
        }),
    );
  }

  async startRevoking(actor: DashboardActor, id: string): Promise<PageResponse> {
    return revokePage(await this.grants.get(actor, id));
  }

  async revoke(actor: DashboardActor, id: string): Promise<PageResponse> {
    const grant = await this.grants.get(actor, id);
    return submitted(
      async () => {
        await this.grants.revoke(actor, id);
        return { redirectTo: `${GRANTS_PATH}?done=revoked` };
      },
      (problem) => revokePage(grant, problem),
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
