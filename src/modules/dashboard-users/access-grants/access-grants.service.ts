import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { In, IsNull, MoreThan } from 'typeorm';
import { DASHBOARD_ROLES, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { CursorCodec } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { cutToPage, type RequestedPage } from '../../../infrastructure/paging/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { mayManage, RecordsDenial, RoleChangeDenied } from '../roles.js';
import type { DashboardUser } from '../users/dashboard-user.entity.js';
import { DashboardUsersRepository } from '../users/dashboard-users.repository.js';
import { AccessGrant, type GrantedRole } from '../access-grant.entity.js';
import type { CreateAccessGrantRequest } from './access-grants.dto.js';
import { AccessGrantsRepository, type ListedGrant } from './access-grants.repository.js';
import { ACCESS_GRANT_NOT_FOUND } from '../dashboard-users-errors.js';

const UNKNOWN_USER = 'No user of your organization has this email address.';
const USER_DISABLED = 'The user is disabled: a grant would come into force when somebody enables the user.';
const ONLY_OWNERS_GRANT_OWNER = 'Only an owner may grant or revoke the role owner.';
const CANNOT_GRANT_TO_YOURSELF = 'You cannot grant access to yourself.';
const ROLE_ALREADY_SUFFICIENT = 'The user already has this role or a higher one.';

@Injectable()
export class AccessGrantsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AccessGrantsRepository,
    private readonly users: DashboardUsersRepository,
    private readonly auditLog: AuditLog,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  /** Returns the active grants of some users. */
  active(userIds: readonly string[]): Promise<AccessGrant[]> {
    const where = { userId: In(userIds), revokedAt: IsNull(), expiresAt: MoreThan(this.clock.now()) };
    return this.transaction.manager.findBy(AccessGrant, where);
  }

  /** Returns a page of the list, in which grants keep their places while they end. @throws ApiError INVALID_CURSOR_FORMAT */
  async page({ organizationId }: DashboardActor, { cursor, limit }: RequestedPage) {
    const scope = ['access_grants', organizationId];
    const now = this.clock.now();
    const [time = now.getTime(), wasActive, createdAt, id] =
      cursor === undefined ? [] : this.cursors.decode(cursor, scope);
    const after =
      id === undefined
        ? undefined
        : { wasActive: wasActive === 1, createdAt: new Date(Number(createdAt)), id: String(id) };
    const at = new Date(Number(time));
    const found = await this.repository.list(organizationId, { now, at, after }, limit + 1);
    const { entries, last } = cutToPage(found, limit);
    const position = last && [at.getTime(), Number(last.wasActive), last.createdAt.getTime(), last.id];
    return { data: entries, next_cursor: position ? this.cursors.encode(position, scope) : null };
  }

  async get({ organizationId }: DashboardActor, id: string): Promise<ListedGrant> {
    const grant = isUUID(id) && (await this.repository.find(organizationId, this.clock.now(), id));
    return ACCESS_GRANT_NOT_FOUND.requireFound(grant);
  }

  @RecordsDenial('access_grant.create')
  @Transactional()
  async create(
    actor: DashboardActor,
    { email, role, reason, expires_in }: CreateAccessGrantRequest,
  ): Promise<void> {
    const { organizationId } = actor;
    // Prevents a grant to a user who is being removed or promoted at the same time.
    await this.users.lockUsersOf(organizationId);
    const user = await this.users.findByEmail(organizationId, email.toLowerCase());
    if (!user) throw INVALID_FIELD.error(UNKNOWN_USER, { field: 'email' });
    requireRoleFor(actor, role, user.email);
    const inTheWay = { path: `/dashboard/users/${user.id}`, name: user.name };
    if (user.disabledAt) throw INVALID_FIELD.error(USER_DISABLED, { field: 'email', inTheWay });
    if (user.id === actor.userId) throw INVALID_FIELD.error(CANNOT_GRANT_TO_YOURSELF, { field: 'email' });
    if (DASHBOARD_ROLES.indexOf(user.role) <= DASHBOARD_ROLES.indexOf(role))
      throw INVALID_FIELD.error(ROLE_ALREADY_SUFFICIENT, { field: 'role', inTheWay });
    const createdAt = this.clock.now();
    await this.transaction.manager.insert(AccessGrant, {
      id: randomUUID(),
      userId: user.id,
      role,
      reason,
      createdAt,
      createdBy: actor.email,
      expiresAt: new Date(createdAt.getTime() + expires_in * SECOND),
    });
    // As with a new role, devices have to be approved again: the user approved them without the rights of the grant.
    await this.users.endAccess(user.id);
    await this.auditLog.record({ action: 'access_grant.create', actor, target: { name: user.email } });
  }

  /** Changes nothing if the grant was already revoked or has expired. */
  @RecordsDenial('access_grant.revoke')
  @Transactional()
  async revoke(actor: DashboardActor, id: string): Promise<void> {
    const { role, email, userId } = await this.get(actor, id);
    requireRoleFor(actor, role, email);
    const { role: _lost, ...withoutRole } = actor;
    // Users who give up their own grant have lost its role by then.
    const recorded = userId === actor.userId ? withoutRole : actor;
    // Only one of several concurrent requests revokes the grant and records it.
    const now = this.clock.now();
    const inForce = { id, revokedAt: IsNull(), expiresAt: MoreThan(now) };
    if (await this.transaction.updateRow(AccessGrant, inForce, { revokedAt: now }))
      await this.auditLog.record({
        action: 'access_grant.revoke',
        actor: recorded,
        target: { name: email },
      });
  }
}

function requireRoleFor(actor: DashboardActor, role: GrantedRole, target: string): void {
  if (!mayManage(actor, role)) throw new RoleChangeDenied(ONLY_OWNERS_GRANT_OWNER, target);
}

/** Returns the grant that is in force: of several active ones, the one with the highest role, and then the longest. */
export function grantInForce(
  active: readonly AccessGrant[],
  user: Pick<DashboardUser, 'id'>,
): AccessGrant | undefined {
  const [grant] = active
    .filter(({ userId }) => userId === user.id)
    .toSorted(
      (left, right) =>
        DASHBOARD_ROLES.indexOf(left.role) - DASHBOARD_ROLES.indexOf(right.role) ||
        right.expiresAt.getTime() - left.expiresAt.getTime(),
    );
  return grant;
}
