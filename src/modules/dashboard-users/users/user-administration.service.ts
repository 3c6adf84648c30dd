import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type {
  DashboardActor,
  DashboardPrincipal,
  DashboardRole,
} from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { RoleChangeDenied, RoleDenials } from '../role-denials.js';
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
import type { DashboardUser } from './dashboard-user.entity.js';
import { DashboardUsersRepository } from './dashboard-users.repository.js';
import { InvitationLimits } from './invitation-limits.js';
import { UserLogins } from './user-logins.js';
import type { CreateUserRequest, UpdateUserRequest, UserResponse } from './users.dto.js';

/** Changes to a user. Absent fields stay the same. */
type Changes = Partial<Pick<DashboardUser, 'name' | 'role' | 'disabledAt'>>;

/** Manages the users of an organization. Changes within an organization run one at a time. */
@Injectable()
export class UserAdministrationService {
  constructor(
    private readonly repository: DashboardUsersRepository,
    private readonly domains: AllowlistedDomainsService,
    private readonly logins: UserLogins,
    private readonly invitationLimits: InvitationLimits,
    private readonly denials: RoleDenials,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list({ organizationId }: DashboardActor): Promise<UserResponse[]> {
    return (await this.repository.list(organizationId, MAX_USERS)).map(toResponse);
  }

  async get({ organizationId }: DashboardActor, id: string): Promise<UserResponse> {
    const user = isUUID(id) ? await this.repository.findInOrganization(organizationId, id) : null;
    if (!user) throw USER_NOT_FOUND.error();
    return toResponse(user);
  }

  async invite(actor: DashboardActor, request: CreateUserRequest): Promise<UserResponse> {
    const user = await this.invitationLimits.count(actor.organizationId, request.email, () =>
      this.denials.runRecordingDenial('user.add', actor, () => this.add(actor, request)),
    );
    this.logins.invite(user);
    return toResponse(user);
  }

  async update(actor: DashboardActor, id: string, request: UpdateUserRequest): Promise<UserResponse> {
    const user = await this.denials.runRecordingDenial('user.update', actor, () =>
      this.change(actor, id, request),
    );
    return toResponse(user);
  }

  async remove(actor: DashboardActor, id: string): Promise<UserResponse> {
    const user = await this.denials.runRecordingDenial('user.remove', actor, () => this.delete(actor, id));
    return toResponse(user);
  }

  /**
   * Disables or enables a user. Operators can disable the last owner too. Disabling ends the user's sessions,
   * access tokens and device approvals.
   *
   * @returns whether this changed anything
   */
  @Transactional()
  async setDisabledByOperator(userId: string, disabled: boolean): Promise<boolean> {
    const user = await this.repository.lock(userId);
    if (!user || (user.disabledAt !== null) === disabled) return false;
    await this.repository.change(userId, { disabledAt: disabled ? this.clock.now() : null });
    if (disabled) {
      await this.logins.end(userId);
      await this.repository.endAccess(userId);
    }
    return true;
  }

  @Transactional()
  private async add(actor: DashboardActor, request: CreateUserRequest): Promise<DashboardUser> {
    const { organizationId } = actor;
    const user: DashboardUser = {
      id: randomUUID(),
      organizationId,
      email: request.email.toLowerCase(),
      name: request.name,
      role: request.role,
      passwordHash: null,
      disabledAt: null,
      totpSecretSealed: null,
      totpEnabledAt: null,
      totpLastStep: null,
      accessVersion: 0,
      createdAt: this.clock.now(),
    };
    requireRoleFor(actor, user.email, user.role);
    if (!(await this.domains.allow(organizationId, user.email)))
      throw INVALID_FIELD.error(DOMAIN_NOT_ALLOWED);
    await this.repository.lockUsersOf(organizationId);
    if ((await this.repository.count(organizationId)) >= MAX_USERS) throw INVALID_FIELD.error(TOO_MANY_USERS);
    if (!(await this.repository.add(user))) throw INVALID_FIELD.error(EMAIL_TAKEN);
    await this.auditLog.record({ action: 'user.add', actor, target: { name: user.email } });
    return user;
  }

  @Transactional()
  private async change(
    actor: DashboardActor,
    id: string,
    request: UpdateUserRequest,
  ): Promise<DashboardUser> {
    const user = await this.locked(actor, id);
    const changes = this.changesTo(user, request);
    requireRoleFor(actor, user.email, user.role, changes.role);
    if (user.id === actor.userId) requireAllowedForSelf(changes);
    const changed = { ...user, ...changes };
    if (isActiveOwner(user) && !isActiveOwner(changed)) await this.requireAnotherOwner(user);
    if (Object.keys(changes).length === 0) return user;
    await this.repository.change(user.id, changes);
    if (changes.disabledAt) await this.logins.end(user.id);
    if (changes.disabledAt || changes.role) await this.repository.endAccess(user.id);
    await this.auditLog.record({ action: 'user.update', actor, target: { name: user.email } });
    return changed;
  }

  @Transactional()
  private async delete(actor: DashboardActor, id: string): Promise<DashboardUser> {
    const user = await this.locked(actor, id);
    requireRoleFor(actor, user.email, user.role);
    if (user.id === actor.userId) throw INVALID_FIELD.error(CANNOT_REMOVE_YOURSELF);
    if (isActiveOwner(user)) await this.requireAnotherOwner(user);
    // Sessions are deleted with the user.
    await this.repository.remove(user.id);
    await this.auditLog.record({ action: 'user.remove', actor, target: { name: user.email } });
    return user;
  }

  private async locked({ organizationId }: DashboardActor, id: string): Promise<DashboardUser> {
    await this.repository.lockUsersOf(organizationId);
    const user = isUUID(id) ? await this.repository.findInOrganization(organizationId, id) : null;
    if (!user) throw USER_NOT_FOUND.error();
    return user;
  }

  private changesTo(user: DashboardUser, { name, role, disabled }: UpdateUserRequest): Changes {
    const isDisabled = user.disabledAt !== null;
    return {
      ...(name === undefined || name === user.name ? {} : { name }),
      ...(role === undefined || role === user.role ? {} : { role }),
      ...(disabled === undefined || disabled === isDisabled
        ? {}
        : { disabledAt: disabled ? this.clock.now() : null }),
    };
  }

  private async requireAnotherOwner({ organizationId, id }: DashboardUser): Promise<void> {
    if (!(await this.repository.hasActiveOwnerBesides(organizationId, id)))
      throw INVALID_FIELD.error(LAST_OWNER);
  }
}

/** Only owners may add, change or remove owners. */
export function mayManage(actor: DashboardPrincipal, role: DashboardRole): boolean {
  return actor.role === 'owner' || role !== 'owner';
}

function requireRoleFor(
  actor: DashboardActor,
  target: string,
  ...roles: readonly (DashboardRole | undefined)[]
): void {
  if (roles.some((role) => role && !mayManage(actor, role))) throw new RoleChangeDenied(OWNERS_ONLY, target);
}

function requireAllowedForSelf({ role, disabledAt }: Changes): void {
  if (role !== undefined) throw INVALID_FIELD.error(CANNOT_CHANGE_OWN_ROLE);
  if (disabledAt) throw INVALID_FIELD.error(CANNOT_DISABLE_YOURSELF);
}

/** Invited owners who have not set a password cannot log in, so they do not count. */
function isActiveOwner({ role, disabledAt, passwordHash }: DashboardUser): boolean {
  return role === 'owner' && disabledAt === null && passwordHash !== null;
}

function toResponse(user: DashboardUser): UserResponse {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    role: user.role,
    disabled: user.disabledAt !== null,
    invitation_pending: user.passwordHash === null,
    two_factor_enabled: user.totpEnabledAt !== null,
    created_at: user.createdAt,
  };
}
