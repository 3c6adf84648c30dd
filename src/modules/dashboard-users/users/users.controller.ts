import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { INSUFFICIENT_ROLE, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { JsonBody } from '../../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { auditAction } from '../../audit-logs/index.js';
import {
  DOMAIN_NOT_ALLOWED,
  EMAIL_TAKEN,
  LAST_OWNER,
  MAX_USERS,
  CANNOT_DISABLE_YOURSELF,
  CANNOT_REMOVE_YOURSELF,
  CANNOT_CHANGE_OWN_ROLE,
  OWNERS_ONLY,
  TOO_MANY_USERS,
  USER_NOT_FOUND,
} from './dashboard-user-errors.js';
import { UserAdministrationService } from './user-administration.service.js';
import { CreateUserRequest, EXAMPLE_USER, UpdateUserRequest, UserResponse } from './users.dto.js';

const ID = { id: { description: 'The user’s `id`.', example: EXAMPLE_USER.id } };

@Topic('Users', 'The people who use the dashboard. By login alone.')
@Controller()
export class UsersController {
  constructor(private readonly users: UserAdministrationService) {}

  @Get('users')
  @DashboardOperation({
    operationId: 'listUsers',
    summary: 'List users',
    description:
      'The people who use the dashboard of your organization, also those who were invited and those who are ' +
      'disabled, in the order in which they were added. Use it to see who has access, and to find the ids ' +
      `that other calls take. An organization has at most ${MAX_USERS}. For admins and ` +
      'owners.',
    permission: { token: 'none', role: 'admin' },
    response: [UserResponse],
    responseDescription: 'All users of the organization.',
    responseExample: [EXAMPLE_USER],
    errors: [],
  })
  list(@CurrentActor() actor: DashboardActor): Promise<UserResponse[]> {
    return this.users.list(actor);
  }

  @Post('users/create')
  @DashboardOperation({
    operationId: 'createUser',
    summary: 'Invite a user',
    description:
      'Adds a person to your organization and sends them an invitation by mail; they can log in when they ' +
      'have set a password. Use it to let a colleague in. Where the organization has allowlisted domains, ' +
      'the e-mail address must belong to one of them. For admins and owners; only an owner invites owners. ' +
      'Audited as `user.add`.',
    permission: { token: 'none', role: 'admin', action: auditAction('user.add') },
    body: CreateUserRequest,
    response: UserResponse,
    responseDescription: 'The user was added and is invited.',
    responseExample: EXAMPLE_USER,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The email field must be a valid email address.',
        'The selected role is invalid.',
        DOMAIN_NOT_ALLOWED,
        EMAIL_TAKEN,
        TOO_MANY_USERS,
      ),
      withMessages(INSUFFICIENT_ROLE, OWNERS_ONLY),
    ],
  })
  create(
    @CurrentActor() actor: DashboardActor,
    @JsonBody() request: CreateUserRequest,
  ): Promise<UserResponse> {
    return this.users.invite(actor, request);
  }

  @Patch('users/:id')
  @DashboardOperation({
    operationId: 'updateUser',
    summary: 'Change a user',
    description:
      'Changes the name or role of a user, or shuts the user out (`disabled`), which ends their logins at ' +
      'once. Use it when somebody changes their work, or shall not log in for now. Fields that are absent ' +
      'stay as they are. Nobody changes their own role or disables themselves, and one active owner always ' +
      'remains. For admins and owners; only an owner changes owners or makes them. Audited as `user.update` ' +
      'when something changed.',
    permission: { token: 'none', role: 'admin', action: auditAction('user.update') },
    pathParameters: ID,
    body: UpdateUserRequest,
    response: UserResponse,
    responseDescription: 'The user as they are now.',
    responseExample: EXAMPLE_USER,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The disabled field must be true or false.',
        CANNOT_CHANGE_OWN_ROLE,
        CANNOT_DISABLE_YOURSELF,
        LAST_OWNER,
      ),
      withMessages(INSUFFICIENT_ROLE, OWNERS_ONLY),
      USER_NOT_FOUND,
    ],
  })
  update(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: UpdateUserRequest,
  ): Promise<UserResponse> {
    return this.users.update(actor, id, request);
  }

  @Delete('users/:id')
  @DashboardOperation({
    operationId: 'deleteUser',
    summary: 'Remove a user',
    description:
      'Removes a user for good, with their logins and access grants, at once. Use it when somebody leaves. ' +
      'Nobody removes themselves, and one active owner always remains. For admins and owners; only an owner ' +
      'removes owners. Audited as `user.remove`.',
    permission: { token: 'none', role: 'admin', action: auditAction('user.remove') },
    pathParameters: ID,
    response: UserResponse,
    responseDescription: 'The user as they were.',
    responseExample: EXAMPLE_USER,
    errors: [
      withMessages(INVALID_FIELD, CANNOT_REMOVE_YOURSELF, LAST_OWNER),
      withMessages(INSUFFICIENT_ROLE, OWNERS_ONLY),
      USER_NOT_FOUND,
    ],
  })
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<UserResponse> {
    return this.users.remove(actor, id);
  }
}
