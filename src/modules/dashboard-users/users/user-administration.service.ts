import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardCaller, DashboardRole } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AllowlistedDomains } from '../../allowlisted-domains/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { PasswordLinks } from '../passwords/password-links.service.js';
import { RoleRefusal, RoleRefusals } from '../role-refusals.js';
import { DashboardSessionsRepository } from '../sessions/dashboard-sessions.repository.js';
import {
  DOMAIN_NOT_ALLOWED,
  EMAIL_TAKEN,
  LAST_OWNER,
  MOST_USERS,
  NOT_YOURSELF_DISABLED,
  NOT_YOURSELF_REMOVED,
  NOT_YOUR_OWN_ROLE,
  OWNERS_ONLY,
  TOO_MANY_USERS,
  USER_NOT_FOUND,
} from './dashboard-user-errors.js';
import type { DashboardUser } from './dashboard-user.entity.js';
import { DashboardUsersRepository } from './dashboard-users.repository.js';
import type { CreateUserRequest, UpdateUserRequest, UserResponse } from './users.dto.js';

/** What changes about a user; what is absent stays. */
type Changes = Partial<Pick<DashboardUser, 'name' | 'role' | 'disabledAt'>>;

/** The people of an organization, managed by its owners and admins. Whoever changes them goes one by one. */
@Injectable()
export class UserAdministration {
  constructor(
    private readonly repository: DashboardUsersRepository,
    private readonly sessions: DashboardSessionsRepository,
    private readonly domains: AllowlistedDomains,
    private readonly passwordLinks: PasswordLinks,
    private readonly refusals: RoleRefusals,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list({ organizationId }: DashboardCaller): Promise<UserResponse[]> {
    return (await this.repository.ofOrganization(organizationId, MOST_USERS)).map(inWordsOfTheApi);
  }

  async invite(caller: DashboardCaller, request: CreateUserRequest): Promise<UserResponse> {
    const user = await this.refusals.recorded('user.add', caller, () => this.add(caller, request));
    this.passwordLinks.invite(user);
    return inWordsOfTheApi(user);
  }

  async update(caller: DashboardCaller, id: string, request: UpdateUserRequest): Promise<UserResponse> {
    const user = await this.refusals.recorded('user.update', caller, () => this.change(caller, id, request));
    return inWordsOfTheApi(user);
  }

  async remove(caller: DashboardCaller, id: string): Promise<UserResponse> {
    const user = await this.refusals.recorded('user.remove', caller, () => this.delete(caller, id));
    return inWordsOfTheApi(user);
  }

  @Transactional()
  private async add(caller: DashboardCaller, request: CreateUserRequest): Promise<DashboardUser> {
    const { organizationId } = caller;
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
      createdAt: this.clock.now(),
    };
    requireRoleFor(caller, user.email, user.role);
    if (!(await this.domains.allow(organizationId, user.email)))
      throw INVALID_FIELD.error(DOMAIN_NOT_ALLOWED);
    await this.repository.lockUsersOf(organizationId);
    if ((await this.repository.count(organizationId)) >= MOST_USERS)
      throw INVALID_FIELD.error(TOO_MANY_USERS);
    if (!(await this.repository.add(user))) throw INVALID_FIELD.error(EMAIL_TAKEN);
    await this.auditLog.record({ action: 'user.add', by: caller, target: { name: user.email } });
    return user;
  }

  @Transactional()
  private async change(
    caller: DashboardCaller,
    id: string,
    request: UpdateUserRequest,
  ): Promise<DashboardUser> {
    const user = await this.locked(caller, id);
    const changes = this.changesTo(user, request);
    requireRoleFor(caller, user.email, user.role, changes.role);
    if (user.id === caller.userId) refuseAboutOneself(changes);
    const changed = { ...user, ...changes };
    if (isActiveOwner(user) && !isActiveOwner(changed)) await this.requireAnotherOwner(user);
    if (Object.keys(changes).length === 0) return user;
    await this.repository.change(user.id, changes);
    if (changes.disabledAt) await this.sessions.endAll(user.id);
    await this.auditLog.record({ action: 'user.update', by: caller, target: { name: user.email } });
    return changed;
  }

  @Transactional()
  private async delete(caller: DashboardCaller, id: string): Promise<DashboardUser> {
    const user = await this.locked(caller, id);
    requireRoleFor(caller, user.email, user.role);
    if (user.id === caller.userId) throw INVALID_FIELD.error(NOT_YOURSELF_REMOVED);
    if (isActiveOwner(user)) await this.requireAnotherOwner(user);
    // Their logins go with them.
    await this.repository.remove(user.id);
    await this.auditLog.record({ action: 'user.remove', by: caller, target: { name: user.email } });
    return user;
  }

  private async locked({ organizationId }: DashboardCaller, id: string): Promise<DashboardUser> {
    await this.repository.lockUsersOf(organizationId);
    const user = isUUID(id) ? await this.repository.one(organizationId, id) : null;
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

/** Who is no owner must not touch owners, and make none. */
function requireRoleFor(
  caller: DashboardCaller,
  target: string,
  ...roles: readonly (DashboardRole | undefined)[]
): void {
  if (caller.role !== 'owner' && roles.includes('owner')) throw new RoleRefusal(OWNERS_ONLY, target);
}

function refuseAboutOneself({ role, disabledAt }: Changes): void {
  if (role !== undefined) throw INVALID_FIELD.error(NOT_YOUR_OWN_ROLE);
  if (disabledAt) throw INVALID_FIELD.error(NOT_YOURSELF_DISABLED);
}

/** Invited owners who have not answered cannot log in, so they do not count. */
function isActiveOwner({ role, disabledAt, passwordHash }: DashboardUser): boolean {
  return role === 'owner' && disabledAt === null && passwordHash !== null;
}

function inWordsOfTheApi(user: DashboardUser): UserResponse {
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
