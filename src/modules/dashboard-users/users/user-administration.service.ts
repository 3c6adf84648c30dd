import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor, DashboardRole } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { ErrorKind, INVALID_FIELD, type ApiError } from '../../../infrastructure/errors/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import { AuditLog, changesBetween, type AuditActor } from '../../audit-logs/index.js';
import { mayManage, RecordsDenial, RoleChangeDenied } from '../roles.js';
import { newUser, type DashboardUser } from './dashboard-user.entity.js';
import { DashboardUsersRepository } from './dashboard-users.repository.js';
import type { CreateUserRequest, UpdateUserRequest } from './users.dto.js';

const USER_NOT_FOUND = new ErrorKind(404, 'USER_ERROR', 'USER_NOT_FOUND', {
  when: 'The organization has no user with this ID.',
  message: 'There is no user with this ID.',
});

const OWNERS_ONLY = 'Only an owner may add, change or remove an owner.';
const EMAIL_TAKEN = 'The email has already been taken.';
const DOMAIN_NOT_ALLOWED = 'The email field must belong to an allowed domain.';
const CANNOT_CHANGE_OWN_ROLE = 'You cannot change your own role.';
const CANNOT_DISABLE_YOURSELF = 'You cannot disable yourself.';
const CANNOT_REMOVE_YOURSELF = 'You cannot remove yourself.';
const LAST_OWNER = 'This is the last active owner of the organization: make another user an owner first.';
const LAST_BREAK_GLASS_OWNER =
  'This is the last break-glass owner of the organization: mark another owner first.';
const INVITATION_ACCEPTED = 'The user has accepted the invitation already.';
const INVITED_USER_DISABLED = 'The user is disabled: enable the user first.';
const MAX_USERS = 1_000;
const TOO_MANY_USERS = `The organization already has the maximum of ${MAX_USERS} users.`;
const INVITATIONS_PER_MAILBOX = 10;

/** Port through which this module invites users and ends their logins. `dashboard-login` implements it. */
export abstract class UserLogins {
  /** Sends an email with a link to set the first password. Joins the open transaction. */
  abstract invite(user: DashboardUser): Promise<void>;

  /** Ends all sessions of the user. Joins the open transaction. */
  abstract end(userId: string): Promise<void>;

  /** Returns when each of the users last logged in. Users who did not log in within a year are absent. */
  abstract lastLogins(userIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
}

/** The links of users to accounts at identity providers. */
export abstract class ProviderLinks {
  abstract isLinked(userId: string): Promise<boolean>;

  /** Joins the open transaction. @returns whether the user was linked */
  abstract unlink(userId: string): Promise<boolean>;
}

/** Changes to a user. Absent fields stay the same. */
type Changes = Partial<Pick<DashboardUser, 'name' | 'role' | 'disabledAt' | 'isBreakGlass'>>;

/** Manages the users of an organization. Changes within an organization run one at a time. */
@Injectable()
export class UserAdministrationService {
  private readonly invitationsToMailbox = this.limits.limit('invitation-mailbox', {
    attempts: INVITATIONS_PER_MAILBOX,
    within: DAY,
  });
  private readonly invitationsOfOrganization = this.limits.limit('invitation-organization', {
    attempts: MAX_USERS,
    within: DAY,
  });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly repository: DashboardUsersRepository,
    private readonly domains: AllowlistedDomainsService,
    private readonly logins: UserLogins,
    private readonly providerLinks: ProviderLinks,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  list({ organizationId }: DashboardActor): Promise<DashboardUser[]> {
    return this.repository.list(organizationId, MAX_USERS);
  }

  search({ organizationId }: DashboardActor, text: string, limit: number): Promise<DashboardUser[]> {
    return this.repository.list(organizationId, limit, text);
  }

  async get({ organizationId }: DashboardActor, id: string): Promise<DashboardUser> {
    const user = isUUID(id) ? await this.repository.findInOrganization(organizationId, id) : null;
    if (!user) throw USER_NOT_FOUND.error();
    return user;
  }

  /**
   * Counts the invitation before the user is added, so that concurrent requests can't exceed a limit. If no user is added,
   * nothing is sent and the invitation does not count. The limit of the mailbox is one per organization, because another
   * organization must not notice it.
   *
   * @throws ApiError RATE_LIMIT_EXCEEDED, so that an organization cannot flood the mailbox of a stranger
   */
  async invite(actor: DashboardActor, request: CreateUserRequest): Promise<DashboardUser> {
    return this.countingInvitation(actor, request.email, () => this.add(actor, request));
  }

  /** Sends another invitation, whose link replaces the earlier one. Counts toward the limits of invitations. */
  async inviteAgain(actor: DashboardActor, id: string): Promise<DashboardUser> {
    const { email } = await this.get(actor, id);
    return this.countingInvitation(actor, email, () => this.sendInvitation(actor, id));
  }

  private async countingInvitation(
    { organizationId }: DashboardActor,
    email: string,
    work: () => Promise<DashboardUser>,
  ): Promise<DashboardUser> {
    // Spellings in upper and lower case and with a tag (`ada+tag@…`) deliver to the same mailbox.
    const address = email.toLowerCase().replace(/(?<=.)\+.*(?=@)/, '');
    const mailbox = JSON.stringify([organizationId, address]);
    await this.limits.countAll([
      { limit: this.invitationsToMailbox, subject: mailbox, error: tooManyInvitations },
      { limit: this.invitationsOfOrganization, subject: organizationId, error: tooManyInvitations },
    ]);
    try {
      return await work();
    } catch (error) {
      await this.invitationsToMailbox.subtract(mailbox);
      await this.invitationsOfOrganization.subtract(organizationId);
      throw error;
    }
  }

  isLinked(userId: string): Promise<boolean> {
    return this.providerLinks.isLinked(userId);
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

  /**
   * Adds a user whom the organization's identity provider authenticated, or accepts that user's invitation. Joins the
   * open transaction.
   *
   * @returns undefined if the organization has too many users, or the email belongs to a user of another one
   */
  async admit(
    user: Pick<DashboardUser, 'organizationId' | 'email' | 'name' | 'role' | 'passwordHash'>,
    actor: AuditActor,
  ): Promise<DashboardUser | undefined> {
    const { organizationId, email, role, passwordHash } = user;
    const invited = await this.repository.findInvited(organizationId, email);
    const admitted = invited ? { ...invited, role, passwordHash } : newUser(user, this.clock.now());
    if (invited) {
      if (await this.repository.findWithPassword(email)) return undefined;
      await this.repository.change(invited.id, { role, passwordHash });
    } else {
      if ((await this.repository.count(organizationId)) >= MAX_USERS) return undefined;
      if (!(await this.repository.add(admitted))) return undefined;
      await this.auditLog.record({ action: 'user.add', actor, target: { name: email } });
    }
    return admitted;
  }

  /**
   * Gives a user the role that the identity provider sent. The last owner and break-glass owners keep theirs. Joins the open
   * transaction.
   */
  async applyRole(user: DashboardUser, role: DashboardRole, actor: AuditActor): Promise<DashboardUser> {
    if (user.role === role || user.isBreakGlass) return user;
    const { organizationId, id } = user;
    if (isActiveOwner(user) && !(await this.repository.hasActiveOwnerBesides(organizationId, id)))
      return user;
    await this.repository.change(id, { role });
    await this.repository.endAccess(id);
    const changes = changesBetween({ role: user.role }, { role });
    await this.auditLog.record({ action: 'user.update', actor, target: { name: user.email }, changes });
    return { ...user, role };
  }

  /**
   * Marks an owner as break-glass, or removes the mark. Joins the open transaction.
   *
   * @param mustStay whether one break-glass owner has to stay
   * @returns the user before the change
   * @throws ApiError USER_NOT_FOUND for a user who is not an active owner, INVALID_FIELD
   */
  async markBreakGlass(
    actor: DashboardActor,
    id: string,
    isBreakGlass: boolean,
    mustStay: boolean,
  ): Promise<DashboardUser> {
    const { organizationId } = actor;
    await this.repository.lockUsersOf(organizationId);
    const user = await this.get(actor, id);
    if (!isActiveOwner(user)) throw USER_NOT_FOUND.error();
    const isLast = !(await this.repository.hasActiveOwnerBesides(organizationId, id, { isBreakGlass: true }));
    if (!isBreakGlass && mustStay && isLast) throw INVALID_FIELD.error(LAST_BREAK_GLASS_OWNER);
    await this.repository.change(id, { isBreakGlass });
    return user;
  }

  @RecordsDenial('user.add')
  @Transactional()
  private async add(actor: DashboardActor, request: CreateUserRequest): Promise<DashboardUser> {
    const { organizationId } = actor;
    const user = newUser({ ...request, organizationId, passwordHash: null }, this.clock.now());
    requireRoleFor(actor, user.email, user.role);
    if (!(await this.domains.allow(organizationId, user.email)))
      throw INVALID_FIELD.error(DOMAIN_NOT_ALLOWED);
    await this.repository.lockUsersOf(organizationId);
    if ((await this.repository.count(organizationId)) >= MAX_USERS) throw INVALID_FIELD.error(TOO_MANY_USERS);
    if (!(await this.repository.add(user))) throw INVALID_FIELD.error(EMAIL_TAKEN);
    await this.logins.invite(user);
    await this.auditLog.record({ action: 'user.add', actor, target: { name: user.email } });
    return user;
  }

  @RecordsDenial('user.invite')
  @Transactional()
  private async sendInvitation(actor: DashboardActor, id: string): Promise<DashboardUser> {
    const user = await this.locked(actor, id);
    if (user.passwordHash !== null) throw INVALID_FIELD.error(INVITATION_ACCEPTED);
    if (user.disabledAt) throw INVALID_FIELD.error(INVITED_USER_DISABLED);
    await this.logins.invite(user);
    await this.auditLog.record({ action: 'user.invite', actor, target: { name: user.email } });
    return user;
  }

  /** @param check throws if the user, who is locked, is not as expected */
  @RecordsDenial('user.update')
  @Transactional()
  async update(
    actor: DashboardActor,
    id: string,
    request: UpdateUserRequest,
    check?: (current: DashboardUser) => void,
  ): Promise<void> {
    const user = await this.locked(actor, id);
    check?.(user);
    const changes = this.changesTo(user, request);
    requireRoleFor(actor, user.email, changes.role);
    if (user.id === actor.userId) requireAllowedForSelf(changes);
    const changed = { ...user, ...changes };
    if (isActiveOwner(user) && !isActiveOwner(changed)) await this.requireAnotherOwner(user);
    if (Object.keys(changes).length === 0) return;
    await this.repository.change(user.id, changes);
    if (changes.disabledAt) await this.logins.end(user.id);
    if (changes.disabledAt || changes.role) await this.repository.endAccess(user.id);
    await this.auditLog.record({
      action: 'user.update',
      actor,
      target: { name: user.email },
      changes: changesBetween(auditedOf(user), auditedOf(changed)),
    });
  }

  @RecordsDenial('user.remove')
  @Transactional()
  async remove(actor: DashboardActor, id: string): Promise<void> {
    const user = await this.locked(actor, id);
    if (user.id === actor.userId) throw INVALID_FIELD.error(CANNOT_REMOVE_YOURSELF);
    if (isActiveOwner(user)) await this.requireAnotherOwner(user);
    // Sessions are deleted with the user.
    await this.repository.remove(user.id);
    await this.auditLog.record({ action: 'user.remove', actor, target: { name: user.email } });
  }

  /** Lets the next login through single sign-on link the user to another account. Ends the user's sessions. */
  @RecordsDenial('auth.provider_unlink')
  @Transactional()
  async unlink(actor: DashboardActor, id: string): Promise<void> {
    const user = await this.locked(actor, id);
    if (!(await this.providerLinks.unlink(user.id))) return;
    await this.logins.end(user.id);
    await this.auditLog.record({ action: 'auth.provider_unlink', actor, target: { name: user.email } });
  }

  /** @throws RoleChangeDenied */
  private async locked(actor: DashboardActor, id: string): Promise<DashboardUser> {
    await this.repository.lockUsersOf(actor.organizationId);
    const user = await this.get(actor, id);
    requireRoleFor(actor, user.email, user.role);
    return user;
  }

  private changesTo(user: DashboardUser, { name, role, disabled }: UpdateUserRequest): Changes {
    const isDisabled = user.disabledAt !== null;
    return {
      ...(name === undefined || name === user.name ? {} : { name }),
      // Only owners are marked.
      ...(role === undefined || role === user.role ? {} : { role, isBreakGlass: false }),
      ...(disabled === undefined || disabled === isDisabled
        ? {}
        : { disabledAt: disabled ? this.clock.now() : null }),
    };
  }

  private async requireAnotherOwner({ organizationId, id, isBreakGlass }: DashboardUser): Promise<void> {
    if (!(await this.repository.hasActiveOwnerBesides(organizationId, id)))
      throw INVALID_FIELD.error(LAST_OWNER);
    if (isBreakGlass && !(await this.repository.hasActiveOwnerBesides(organizationId, id, { isBreakGlass })))
      throw INVALID_FIELD.error(LAST_BREAK_GLASS_OWNER);
  }
}

function tooManyInvitations(wait: number): ApiError {
  return tooManyAttempts(wait, 'There were too many invitations.');
}

function requireRoleFor(actor: DashboardActor, target: string, role: DashboardRole | undefined): void {
  if (role && !mayManage(actor, role)) throw new RoleChangeDenied(OWNERS_ONLY, target);
}

function requireAllowedForSelf({ role, disabledAt }: Changes): void {
  if (role !== undefined) throw INVALID_FIELD.error(CANNOT_CHANGE_OWN_ROLE);
  if (disabledAt) throw INVALID_FIELD.error(CANNOT_DISABLE_YOURSELF);
}

/** Invited owners who have not set a password cannot log in, so they do not count. */
function isActiveOwner({ role, disabledAt, passwordHash }: DashboardUser): boolean {
  return role === 'owner' && disabledAt === null && passwordHash !== null;
}

function auditedOf({ name, role, disabledAt, isBreakGlass }: DashboardUser) {
  return { name, role, disabled: disabledAt !== null, break_glass: isBreakGlass };
}
