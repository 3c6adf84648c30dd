import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { INSUFFICIENT_ROLE, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { JsonBody } from '../../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { auditAction } from '../../audit-logs/index.js';
import { USER_NOT_FOUND } from '../users/dashboard-user-errors.js';
import {
  ACCESS_GRANT_NOT_FOUND,
  MAX_GRANTS,
  CANNOT_GRANT_TO_YOURSELF,
  ONLY_OWNERS_GRANT_OWNER,
  ROLE_ALREADY_SUFFICIENT,
} from './access-grant-errors.js';
import { AccessGrantResponse, CreateAccessGrantRequest, EXAMPLE_GRANT } from './access-grants.dto.js';
import { AccessGrantsService } from './access-grants.service.js';

@Topic('Access grants', 'More rights, for a time. By login alone.')
@Controller()
export class AccessGrantsController {
  constructor(private readonly grants: AccessGrantsService) {}

  @Get('access-grants')
  @DashboardOperation({
    operationId: 'listAccessGrants',
    summary: 'List access grants',
    description:
      `Who has, or had, more rights than their own role gives: those in force first, then the newest, ` +
      `${MAX_GRANTS} at most. Use it to see who may do more than usual, and until when. For admins and owners.`,
    permission: { token: 'none', role: 'admin' },
    response: [AccessGrantResponse],
    responseDescription: 'The grants.',
    responseExample: [EXAMPLE_GRANT],
    errors: [],
  })
  list(@CurrentActor() actor: DashboardActor): Promise<AccessGrantResponse[]> {
    return this.grants.list(actor);
  }

  @Post('access-grants/create')
  @DashboardOperation({
    operationId: 'createAccessGrant',
    summary: 'Grant privileged access',
    description:
      'Gives a user the rights of a higher role until the time is over or the grant is revoked. Use it when ' +
      'somebody needs a higher role for a task, and not for good. Nobody grants access to themselves. For ' +
      'admins and owners; only an owner grants `owner`. Audited as `access_grant.create`.',
    permission: { token: 'none', role: 'admin', action: auditAction('access_grant.create') },
    body: CreateAccessGrantRequest,
    response: AccessGrantResponse,
    responseDescription: 'The grant is in force.',
    responseExample: EXAMPLE_GRANT,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The user id field must be a UUID.',
        'The expires in field must be at least 300.',
        CANNOT_GRANT_TO_YOURSELF,
        ROLE_ALREADY_SUFFICIENT,
      ),
      withMessages(INSUFFICIENT_ROLE, ONLY_OWNERS_GRANT_OWNER),
      USER_NOT_FOUND,
    ],
  })
  create(
    @CurrentActor() actor: DashboardActor,
    @JsonBody() request: CreateAccessGrantRequest,
  ): Promise<AccessGrantResponse> {
    return this.grants.create(actor, request);
  }

  @Post('access-grants/:id/revoke')
  @DashboardOperation({
    operationId: 'revokeAccessGrant',
    summary: 'Revoke an access grant',
    description:
      'Ends a grant at once. Use it when the task is done early. Revoking a grant that is over already ' +
      'answers the same and changes nothing. For admins and owners; only an owner revokes `owner`. Audited ' +
      'as `access_grant.revoke`.',
    permission: { token: 'none', role: 'admin', action: auditAction('access_grant.revoke') },
    pathParameters: { id: { description: 'The grant’s `id`.', example: EXAMPLE_GRANT.id } },
    response: AccessGrantResponse,
    responseDescription: 'The grant, which is over.',
    responseExample: { ...EXAMPLE_GRANT, revoked_at: '2026-01-31T09:00:00.000Z', active: false },
    errors: [withMessages(INSUFFICIENT_ROLE, ONLY_OWNERS_GRANT_OWNER), ACCESS_GRANT_NOT_FOUND],
  })
  revoke(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<AccessGrantResponse> {
    return this.grants.revoke(actor, id);
  }
}
