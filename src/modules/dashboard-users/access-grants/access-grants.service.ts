import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { DASHBOARD_ROLES, type DashboardCaller } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { RoleRefusal, RoleRefusals } from '../role-refusals.js';
import { USER_NOT_FOUND } from '../users/dashboard-user-errors.js';
import { DashboardUsersRepository } from '../users/dashboard-users.repository.js';
import {
  ACCESS_GRANT_NOT_FOUND,
  MOST_GRANTS,
  NOT_TO_YOURSELF,
  OWNER_GRANTS_BY_OWNERS,
  ROLE_IS_ENOUGH,
} from './access-grant-errors.js';
import type { AccessGrantResponse, CreateAccessGrantRequest, GrantedRole } from './access-grants.dto.js';
import { AccessGrantsRepository, type GrantOfUser } from './access-grants.repository.js';

/** Privileged access: a role above the user's own, for a time and with a reason. */
@Injectable()
export class AccessGrants {
  constructor(
    private readonly repository: AccessGrantsRepository,
    private readonly users: DashboardUsersRepository,
    private readonly refusals: RoleRefusals,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list({ organizationId }: DashboardCaller): Promise<AccessGrantResponse[]> {
    const grants = await this.repository.ofOrganization(organizationId, this.clock.now(), MOST_GRANTS);
    return grants.map((grant) => this.inWordsOfTheApi(grant));
  }

  async create(caller: DashboardCaller, request: CreateAccessGrantRequest): Promise<AccessGrantResponse> {
    const action = 'access_grant.create';
    return this.inWordsOfTheApi(
      await this.refusals.recorded(action, caller, () => this.grant(caller, request)),
    );
  }

  /** Doing it again, or after the end, changes nothing. */
  async revoke(caller: DashboardCaller, id: string): Promise<AccessGrantResponse> {
    const action = 'access_grant.revoke';
    return this.inWordsOfTheApi(await this.refusals.recorded(action, caller, () => this.end(caller, id)));
  }

  @Transactional()
  private async grant(caller: DashboardCaller, request: CreateAccessGrantRequest): Promise<GrantOfUser> {
    const { organizationId } = caller;
    // A user who is removed meanwhile gets none, and one who is promoted needs none.
    await this.users.lockUsersOf(organizationId);
    const user = await this.users.one(organizationId, request.user_id);
    if (!user) throw USER_NOT_FOUND.error();
    requireRoleFor(caller, request.role, user.email);
    if (user.id === caller.userId) throw INVALID_FIELD.error(NOT_TO_YOURSELF);
    if (DASHBOARD_ROLES.indexOf(user.role) <= DASHBOARD_ROLES.indexOf(request.role))
      throw INVALID_FIELD.error(ROLE_IS_ENOUGH);
    const createdAt = this.clock.now();
    const grant = {
      id: randomUUID(),
      userId: user.id,
      role: request.role,
      reason: request.reason,
      createdAt,
      createdBy: caller.email,
      expiresAt: new Date(createdAt.getTime() + request.expires_in * SECOND),
      revokedAt: null,
    };
    await this.repository.add(grant);
    await this.auditLog.record({ action: 'access_grant.create', by: caller, target: { name: user.email } });
    return { ...grant, email: user.email };
  }

  @Transactional()
  private async end(caller: DashboardCaller, id: string): Promise<GrantOfUser> {
    const grant = isUUID(id) ? await this.repository.one(caller.organizationId, id) : undefined;
    if (!grant) throw ACCESS_GRANT_NOT_FOUND.error();
    requireRoleFor(caller, grant.role, grant.email);
    const now = this.clock.now();
    // Of rivals the one whose statement found it in force.
    if (!(await this.repository.revoke(grant.id, now)))
      return (await this.repository.one(caller.organizationId, id)) ?? grant;
    await this.auditLog.record({ action: 'access_grant.revoke', by: caller, target: { name: grant.email } });
    return { ...grant, revokedAt: now };
  }

  private inWordsOfTheApi(grant: GrantOfUser): AccessGrantResponse {
    return {
      id: grant.id,
      user_id: grant.userId,
      email: grant.email,
      role: grant.role,
      reason: grant.reason,
      created_at: grant.createdAt,
      created_by: grant.createdBy,
      expires_at: grant.expiresAt,
      revoked_at: grant.revokedAt,
      active: grant.revokedAt === null && grant.expiresAt > this.clock.now(),
    };
  }
}

function requireRoleFor(caller: DashboardCaller, role: GrantedRole, target: string): void {
  if (role === 'owner' && caller.role !== 'owner') throw new RoleRefusal(OWNER_GRANTS_BY_OWNERS, target);
}
