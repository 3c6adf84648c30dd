import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, ROLE, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  requestFrom,
  requireUnchanged,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { EnumField, TextField } from '../../../infrastructure/validation/index.js';
import { AccessGrantsService } from '../access-grants/access-grants.service.js';
import { EmailsRepository } from '../emails/emails.repository.js';
import { pageOf } from '../page-of-list.js';
import { UserAdministrationService, UserLogins } from './user-administration.service.js';
import { CreateUserRequest, UpdateUserRequest, type UserResponse } from './users.dto.js';
import {
  changeableOf,
  changeUserPage,
  confirmUserPage,
  inviteUserPage,
  STATUSES,
  statusOf,
  userPage,
  userPath,
  usersPage,
  USERS_PATH,
  type UserAction,
} from './users.pages.js';

const FILTER = { in: 'query', required: false } as const;
const USER_STATUS = enumeration('UserStatus', Object.keys(STATUSES), 'Whether a user can log in.');
const ON_OR_OFF = enumeration('OnOrOff', ['on', 'off'], 'Whether something is in use.');

/** The filters of the list. */
class UsersPageQuery {
  @TextField({ ...FILTER, max: 256, description: 'A part of the name or email address.', example: 'ada' })
  search?: string;

  @EnumField(ROLE, { ...FILTER, description: 'Only users with this role.', example: 'member' })
  role?: string;

  @EnumField(USER_STATUS, { ...FILTER, description: 'Only users with this status.', example: 'active' })
  status?: string;

  @EnumField(ON_OR_OFF, {
    ...FILTER,
    description: 'Only users with or without a second factor.',
    example: 'off',
  })
  two_factor?: string;
}

@Controller('dashboard/users')
export class UsersPagesController {
  constructor(
    private readonly users: UserAdministrationService,
    private readonly grants: AccessGrantsService,
    private readonly logins: UserLogins,
    private readonly emails: EmailsRepository,
  ) {}

  /** @param query the filters `search`, `role`, `status` and `two_factor`, and the ID of the last user before this page as `cursor` */
  @Get()
  @DashboardPage('listUsers', UsersPageQuery)
  async list(
    @CurrentActor() actor: DashboardActor,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Promise<PageResponse> {
    const all = await this.users.list(actor);
    const found = all.filter(matches(query));
    const { shown, nextCursor } = pageOf(found, query['cursor']);
    const ids = shown.map(({ id }) => id);
    const [lastLogins, invitations] = await Promise.all([
      this.logins.lastLogins(ids),
      this.emails.invitations(ids),
    ]);
    const active = (await this.grants.list(actor)).filter((grant) => grant.active);
    const granted = new Map(active.map(({ user_id, role }) => [user_id, role]));
    const counts = { found: found.length, all: all.length };
    return usersPage({ users: shown, ...counts, granted, lastLogins, invitations, nextCursor });
  }

  @Get('invitations/new')
  @DashboardPage('createUser')
  startInviting(@CurrentActor() actor: DashboardActor): PageResponse {
    return inviteUserPage(actor);
  }

  @Post('invitations/new')
  @DashboardAction('createUser')
  invite(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        const { id } = await this.users.invite(actor, requestFrom(CreateUserRequest, form));
        return { redirectTo: `${userPath(id)}?done=invited` };
      },
      () => inviteUserPage(actor),
    );
  }

  @Get(':id')
  @DashboardPage('listUsers')
  async show(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    const user = await this.users.get(actor, id);
    const [grants, lastLogins, invitations, isLinked] = await Promise.all([
      this.grants.list(actor),
      this.logins.lastLogins([user.id]),
      this.emails.invitations([user.id]),
      this.users.isLinked(user.id),
    ]);
    const grant = grants.find(({ user_id, active }) => active && user_id === user.id);
    return userPage({
      user,
      actor,
      grant,
      lastLogin: lastLogins.get(user.id),
      invitation: invitations.get(user.id),
      isLinked,
    });
  }

  @Post(':id/invitation')
  @DashboardAction('createUser')
  inviteAgain(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return submitted(
      async () => {
        await this.users.inviteAgain(actor, id);
        return { redirectTo: `${userPath(id)}?done=invited-again` };
      },
      () => this.show(actor, id),
    );
  }

  @Get(':id/change')
  @DashboardPage('updateUser')
  async startChanging(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return changeUserPage(await this.users.get(actor, id), actor);
  }

  @Post(':id/change')
  @DashboardAction('updateUser')
  async change(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        await this.users.update(actor, id, requestFrom(UpdateUserRequest, form), (current) =>
          requireUnchanged(form, changeableOf(current)),
        );
        return { redirectTo: `${userPath(id)}?done=changed` };
      },
      async () => changeUserPage(await this.users.get(actor, id), actor),
    );
  }

  @Get(':id/disable')
  @DashboardPage('updateUser')
  startDisabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.confirm(actor, id, 'disable');
  }

  @Post(':id/disable')
  @DashboardAction('updateUser')
  disable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'disable');
  }

  @Get(':id/enable')
  @DashboardPage('updateUser')
  startEnabling(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.confirm(actor, id, 'enable');
  }

  @Post(':id/enable')
  @DashboardAction('updateUser')
  enable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'enable');
  }

  @Get(':id/unlink')
  @DashboardPage('updateUser')
  startUnlinking(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.confirm(actor, id, 'unlink');
  }

  @Post(':id/unlink')
  @DashboardAction('updateUser')
  unlink(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'unlink');
  }

  @Get(':id/remove')
  @DashboardPage('deleteUser')
  startRemoving(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.confirm(actor, id, 'remove');
  }

  @Post(':id/remove')
  @DashboardAction('deleteUser')
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.perform(actor, id, 'remove');
  }

  private async confirm(actor: DashboardActor, id: string, action: UserAction): Promise<PageResponse> {
    return confirmUserPage(await this.users.get(actor, id), action);
  }

  private async perform(actor: DashboardActor, id: string, action: UserAction): Promise<PageResponse> {
    const user = await this.users.get(actor, id);
    return submitted(
      async () => {
        if (action === 'remove') await this.users.remove(actor, id);
        else if (action === 'unlink') await this.users.unlink(actor, id);
        else await this.users.update(actor, id, { disabled: action === 'disable' });
        const path = action === 'remove' ? USERS_PATH : userPath(id);
        return { redirectTo: `${path}?done=${action}` };
      },
      () => confirmUserPage(user, action),
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
