import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { requestFrom, submitted, type PageResponse } from '../../../infrastructure/pages/index.js';
import { AccessGrantsService } from '../access-grants/access-grants.service.js';
import { UserAdministrationService } from './user-administration.service.js';
import { UserLogins } from './user-logins.js';
import { CreateUserRequest, UpdateUserRequest, type UserResponse } from './users.dto.js';
import {
  changeUserPage,
  confirmationPage,
  inviteUserPage,
  statusOf,
  userPage,
  userPath,
  usersPage,
  USERS_PATH,
  type UserAction,
} from './users.pages.js';

/** Users of one page of the list. An organization can have 1,000. */
const USERS_PER_PAGE = 50;

/** The pages about users. */
@Injectable()
export class UsersPagesService {
  constructor(
    private readonly users: UserAdministrationService,
    private readonly grants: AccessGrantsService,
    private readonly logins: UserLogins,
  ) {}

  /** @param query the filters `search`, `role`, `status` and `two_factor`, and the ID of the last user before this page as `cursor` */
  async list(actor: DashboardActor, query: Readonly<Record<string, unknown>>): Promise<PageResponse> {
    const all = await this.users.list(actor);
    const found = all.filter(matches(query));
    const start = found.findIndex(({ id }) => id === query['cursor']) + 1;
    const shown = found.slice(start, start + USERS_PER_PAGE);
    return usersPage({
      users: shown,
      found: found.length,
      all: all.length,
      lastLogins: await this.logins.lastLogins(shown.map(({ id }) => id)),
      nextCursor: found.length > start + USERS_PER_PAGE ? (shown.at(-1)?.id ?? null) : null,
    });
  }

  startInviting(actor: DashboardActor): PageResponse {
    return inviteUserPage(actor);
  }

  invite(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const { id } = await this.users.invite(actor, requestFrom(CreateUserRequest, form));
        return { redirectTo: `${userPath(id)}?done=invited` };
      },
      (problem) => inviteUserPage(actor, form, problem),
    );
  }

  async show(actor: DashboardActor, id: string): Promise<PageResponse> {
    const [user, grants, lastLogins] = await Promise.all([
      this.users.get(actor, id),
      this.grants.list(actor),
      this.logins.lastLogins([id]),
    ]);
    const grant = grants.find(({ user_id, active }) => active && user_id === user.id);
    return userPage({ user, actor, grant, lastLogin: lastLogins.get(user.id) });
  }

  async startChanging(actor: DashboardActor, id: string): Promise<PageResponse> {
    return changeUserPage(await this.users.get(actor, id), actor);
  }

  async change(actor: DashboardActor, id: string, form: FormFields): Promise<PageResponse> {
    const user = await this.users.get(actor, id);
    return submitted(
      async () => {
        await this.users.update(actor, id, requestFrom(UpdateUserRequest, form));
        return { redirectTo: `${userPath(id)}?done=changed` };
      },
      (problem) => changeUserPage(user, actor, form, problem),
    );
  }

  async confirm(actor: DashboardActor, id: string, action: UserAction): Promise<PageResponse> {
    return confirmationPage(await this.users.get(actor, id), action);
  }

  async perform(actor: DashboardActor, id: string, action: UserAction): Promise<PageResponse> {
    const user = await this.users.get(actor, id);
    return submitted(
      async () => {
        if (action === 'remove') await this.users.remove(actor, id);
        else await this.users.update(actor, id, { disabled: action === 'disable' });
        const path = action === 'remove' ? USERS_PATH : userPath(id);
        return { redirectTo: `${path}?done=${action}` };
      },
      (problem) => confirmationPage(user, action, problem),
    );
  }
}

function matches(query: Readonly<Record<string, unknown>>): (user: UserResponse) => boolean {
  const { search, role, status, two_factor: factor } = query;
  const text = typeof search === 'string' ? search.trim().toLowerCase() : '';
  return (user) =>
    `${user.name}\n${user.email}`.toLowerCase().includes(text) &&
    (!role || user.role === role) &&
    (!status || statusOf(user) === status) &&
    (!factor || user.two_factor_enabled === (factor === 'on'));
}
