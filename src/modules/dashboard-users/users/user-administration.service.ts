import { Injectable } from '@nestjs/common';
import type { DashboardActor, DashboardRole } from '../../../infrastructure/auth/index.js';
import { CursorCodec } from '../../../infrastructure/crypto/index.js';
import { Transactional, type Check } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD, type ApiError } from '../../../infrastructure/errors/index.js';
import { cutToPage } from '../../../infrastructure/paging/index.js';
import {
  AttemptLimitsRepository,
  subtractAll,
  tooManyAttempts,
} from '../../../infrastructure/rate-limiting/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { fieldError } from '../../../infrastructure/validation/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import { AuditLog, changesBetween, OPERATOR, type AuditActor } from '../../audit-logs/index.js';
import { mayManage, RecordsDenial, RoleChangeDenied } from '../roles.js';
import { newUser, type DashboardUser } from './dashboard-user.entity.js';
import { DashboardUsersRepository } from './dashboard-users.repository.js';
import type { CreateUserRequest, UpdateUserRequest, UsersQuery } from './users.dto.js';
import { USER_NOT_FOUND } from '../dashboard-users-errors.js';

const OWNERS_ONLY = 'Only an owner may add, change or remove an owner.';
const EMAIL_TAKEN = 'The email has already been taken.';
const domainNotAllowed = (field: string): string => `The ${field} field must belong to an allowed domain.`;
const DOMAIN_NO_LONGER_ALLOWED = 'The domain of the user’s email address is no longer allowed.';
const CANNOT_CHANGE_OWN_ROLE = 'You cannot change your own role.';
const CANNOT_DISABLE_YOURSELF = 'You cannot disable yourself.';
const CANNOT_REMOVE_YOURSELF = 'You cannot remove yourself.';
const LAST_OWNER = 'This is the last active owner of the organization: make another user an owner first.';
const LAST_BREAK_GLASS_OWNER =
  'This is the last break-glass owner of the organization: mark another owner first.';
const INVITATION_ACCEPTED = 'The user has accepted the invitation already.';
const INVITED_USER_DISABLED = 'The user is disabled: enable the user first.';
/** How many users an organization can have. */
const MAX_USERS = 1_000;
const TOO_MANY_USERS = `The organization already has the maximum of ${MAX_USERS} users.`;
const ALL_USERS = { path: '/dashboard/users', name: 'Users' };
const INVITATIONS_PER_MAILBOX = 10;

/** The user who invites another one. */
export type Inviter = Pick<DashboardActor, 'name' | 'email'>;

/** Port through which this module invites users and ends their logins. `dashboard-login` implements it. */
export abstract class UserLogins {
  /** Sends an email with a link to set the first password, which says who invited the user. Joins the open transaction. */
  abstract invite(user: DashboardUser, inviter: Inviter): Promise<void>;

  /** Ends all sessions of the user. Joins the open transaction. */
  abstract end(userId: string): Promise<void>;

  /**
   * Removes the passkeys that the user added in logins that no owner had approved. Joins the open transaction.
   *
   * @returns their names
   */
  abstract removeUnapprovedPasskeys(userId: string): Promise<readonly string[]>;

  /** Returns when each of the users last logged in. Users who did not log in within a year are absent. */
  abstract lastLogins(userIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
}

/** The links of users to accounts at identity providers. */
export abstract class ProviderLinks {
  abstract isLinked(userId: string): Promise<boolean>;

  /** Joins the open transaction. @returns whether the user was linked */
  abstract unlink(userId: string): Promise<boolean>;
}

interface UsersPage {
  readonly data: readonly DashboardUser[];
  readonly next_cursor: string | null;
  /** Users who match the filters. */
  readonly count: number;
  /** Users of the organization. */
  readonly total: number;
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
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  list({ organizationId }: DashboardActor): Promise<DashboardUser[]> {
    return this.repository.list(organizationId, MAX_USERS);
  }

  /**
   * Returns a page of the users who match the filters, and how many match of how many.
   *
   * @throws ApiError INVALID_CURSOR_FORMAT
   */
  async page({ organizationId }: DashboardActor, query: UsersQuery, limit: number): Promise<UsersPage> {
    const scope = ['users', organizationId];
    const [time, id = ''] = query.cursor === undefined ? [] : this.cursors.decode(query.cursor, scope);
    const after = time === undefined ? undefined : { time: new Date(Number(time)), id: String(id) };
    const [found, count] = await this.repository.page(organizationId, query, after, limit + 1);
    const { entries, last } = cutToPage(found, limit);
    const next = last ? this.cursors.encode([Number(last.createdAt), last.id], scope) : null;
    return { data: entries, next_cursor: next, count, total: await this.repository.count(organizationId) };
  }

  search({ organizationId }: DashboardActor, text: string, limit: number): Promise<DashboardUser[]> {
    return this.repository.list(organizationId, limit, text);
  }

  async get({ organizationId }: DashboardActor, id: string): Promise<DashboardUser> {
    return USER_NOT_FOUND.requireFound(await this.repository.findInOrganization(organizationId, id));
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
    const attempts = [
      { limit: this.invitationsToMailbox, subject: mailbox, error: tooManyInvitations },
      { limit: this.invitationsOfOrganization, subject: organizationId, error: tooManyInvitations },
    ];
    await this.limits.countAll(attempts);
    try {
      return await work();
    } catch (error) {
      await subtractAll(attempts);
      throw error;
    }
  }

  isLinked(userId: string): Promise<boolean> {
    return this.providerLinks.isLinked(userId);
  }

  /**
   * Disables or enables a user. Operators can disable the last owner too. Disabling ends the user's sessions,
   * access tokens, device approvals and access grants.
   *
   * @returns whether this changed anything
   */
  @Transactional()
  async setDisabledByOperator(userId: string, disabled: boolean): Promise<boolean> {
    const found = await this.repository.find(userId);
    if (!found) return false;
    // An access grant that is being created would otherwise be in force when the user is enabled.
    await this.repository.lockUsersOf(found.organizationId);
    const user = await this.repository.lock(userId);
    if (!user || (user.disabledAt !== null) === disabled) return false;
    await this.repository.change(userId, { disabledAt: disabled ? this.clock.now() : null });
    if (disabled) {
      await this.logins.end(userId);
      await this.endRights(user, { organizationId: user.organizationId, ...OPERATOR });
    }
    return true;
  }

  /**
   * Adds a user whom the organization's identity provider authenticated, or accepts that user's invitation. An invited user has the
   * role that was given since, whatever `role` says: `applyRole` changes it. Joins the open transaction.
   *
   * @returns undefined if the organization has too many users, or the email belongs to a user of another one
   */
  async admit(
    user: Pick<DashboardUser, 'organizationId' | 'email' | 'name' | 'role' | 'passwordHash'>,
    actor: AuditActor,
  ): Promise<DashboardUser | undefined> {
    const { organizationId, email, passwordHash } = user;
    const invited = await this.repository.findInvited(organizationId, email);
    const admitted = invited ? { ...invited, passwordHash } : newUser(user, this.clock.now());
    if (invited) {
      // The link in the invitation may have set a password meanwhile.
      const current = await this.repository.lock(invited.id);
      if (current?.passwordHash !== null || (await this.repository.findWithPassword(email))) return undefined;
      await this.repository.change(invited.id, { passwordHash });
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
  async applyRole(user: DashboardUser, role: DashboardRole, actor: AuditActor): Promise<void> {
    if (user.role === role || user.isBreakGlass) return;
    const { organizationId, id } = user;
    if (isActiveOwner(user) && !(await this.repository.hasActiveOwnerBesides(organizationId, id))) return;
    await this.repository.change(id, { role });
    await this.endRights(user, actor);
    const changes = changesBetween({ role: user.role }, { role });
    await this.auditLog.record({ action: 'user.update', actor, target: { name: user.email }, changes });
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
    if (!isBreakGlass && mustStay && isLast)
      throw INVALID_FIELD.error(LAST_BREAK_GLASS_OWNER, { field: 'role' });
    await this.repository.change(id, { isBreakGlass });
    return user;
  }

  @RecordsDenial('user.add')
  @Transactional()
  private async add(actor: DashboardActor, request: CreateUserRequest): Promise<DashboardUser> {
    const { organizationId } = actor;
    const user = newUser({ ...request, organizationId, passwordHash: null }, this.clock.now());
    requireRoleFor(actor, user.email, user.role);
    await this.repository.lockUsersOf(organizationId);
    if (!(await this.domains.allow(organizationId, user.email)))
      throw fieldError({ field: 'email', rule: domainNotAllowed });
    if ((await this.repository.count(organizationId)) >= MAX_USERS)
      throw INVALID_FIELD.error(TOO_MANY_USERS, { field: 'email', inTheWay: ALL_USERS });
    const colleague = await this.repository.findByEmail(organizationId, user.email);
    if (colleague) throw alreadyUser(colleague);
    if (!(await this.repository.add(user))) throw INVALID_FIELD.error(EMAIL_TAKEN, { field: 'email' });
    await this.logins.invite(user, actor);
    await this.auditLog.record({ action: 'user.add', actor, target: { name: user.email } });
    return user;
  }

  @RecordsDenial('user.invite')
  @Transactional()
  private async sendInvitation(actor: DashboardActor, id: string): Promise<DashboardUser> {
    const user = await this.locked(actor, id);
    if (user.passwordHash !== null) throw INVALID_FIELD.error(INVITATION_ACCEPTED);
    if (user.disabledAt) throw INVALID_FIELD.error(INVITED_USER_DISABLED);
    if (!(await this.domains.allow(user.organizationId, user.email)))
      throw INVALID_FIELD.error(DOMAIN_NO_LONGER_ALLOWED);
    await this.logins.invite(user, actor);
    await this.auditLog.record({ action: 'user.invite', actor, target: { name: user.email } });
    return user;
  }

  @RecordsDenial('user.update')
  @Transactional()
  async update(
    actor: DashboardActor,
    id: string,
    request: UpdateUserRequest,
    check?: Check<DashboardUser>,
  ): Promise<void> {
    const user = await this.locked(actor, id, check);
    const changes = this.changesTo(user, request);
    requireRoleFor(actor, user.email, changes.role);
    if (user.id === actor.userId) requireAllowedForSelf(changes);
    const changed = { ...user, ...changes };
    if (isActiveOwner(user) && !isActiveOwner(changed)) await this.requireAnotherOwner(user);
    if (Object.keys(changes).length === 0) return;
    await this.repository.change(user.id, changes);
    if (changes.disabledAt) await this.logins.end(user.id);
    if (changes.disabledAt || changes.role) await this.endRights(user, actor);
    await this.auditLog.record({
      action: 'user.update',
      actor,
      target: { name: user.email },
      changes: changesBetween(auditedOf(user), auditedOf(changed)),
    });
  }

  @RecordsDenial('user.remove')
  @Transactional()
  async remove(actor: DashboardActor, id: string, check?: Check<DashboardUser>): Promise<void> {
    const user = await this.locked(actor, id, check);
    if (user.id === actor.userId) throw INVALID_FIELD.error(CANNOT_REMOVE_YOURSELF);
    if (isActiveOwner(user)) await this.requireAnotherOwner(user);
    // Sessions are deleted with the user.
    await this.repository.remove(user.id);
    await this.auditLog.record({ action: 'user.remove', actor, target: { name: user.email } });
  }

  /**
   * Lets the next login through single sign-on link the user to another account. Ends what the linked account has left: the user's
   * sessions, access tokens and device approvals, and the passkeys that were added in logins that no owner had approved.
   */
  @RecordsDenial('auth.provider_unlink')
  @Transactional()
  async unlink(actor: DashboardActor, id: string, check?: Check<DashboardUser>): Promise<void> {
    const user = await this.locked(actor, id, check);
    if (!(await this.providerLinks.unlink(user.id))) return;
    // First, because it locks the user, so that no passkey is added or used meanwhile.
    await this.repository.endAccess(user.id);
    await this.logins.end(user.id);
    const passkeys = await this.logins.removeUnapprovedPasskeys(user.id);
    const { credential: _ended, ...loggedOut } = actor;
    // Users who unlink themselves have ended their own login by then.
    const recorded = user.id === actor.userId ? loggedOut : actor;
    const entry = { actor: recorded, target: { name: user.email } };
    await this.auditLog.record({ action: 'auth.provider_unlink', ...entry });
    if (passkeys.length === 0) return;
    const changes = changesBetween({ passkeys }, { passkeys: [] });
    await this.auditLog.record({ action: 'auth.passkey_remove', ...entry, changes });
  }

  /** Ends access tokens, device approvals, and access grants, which would otherwise be in force in the new role, or come back with the user. */
  private async endRights({ id, email }: DashboardUser, actor: AuditActor): Promise<void> {
    await this.repository.endAccess(id);
    if (await this.repository.revokeGrants(id, this.clock.now()))
      await this.auditLog.record({ action: 'access_grant.revoke', actor, target: { name: email } });
  }

  /** @throws RoleChangeDenied */
  private async locked(
    actor: DashboardActor,
    id: string,
    check?: Check<DashboardUser>,
  ): Promise<DashboardUser> {
    await this.repository.lockUsersOf(actor.organizationId);
    const user = await this.get(actor, id);
    requireRoleFor(actor, user.email, await this.repository.effectiveRole(user, this.clock.now()));
    check?.(user);
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
      throw INVALID_FIELD.error(LAST_OWNER, { field: 'role' });
    if (isBreakGlass && !(await this.repository.hasActiveOwnerBesides(organizationId, id, { isBreakGlass })))
      throw INVALID_FIELD.error(LAST_BREAK_GLASS_OWNER, { field: 'role' });
  }
}

function tooManyInvitations(wait: number): ApiError {
  return tooManyAttempts(wait, 'There were too many invitations.');
}

function alreadyUser({ id, name, email }: DashboardUser): ApiError {
  const inTheWay = { path: `${ALL_USERS.path}/${id}`, name };
  return INVALID_FIELD.error(`${email} is already a user of your organization.`, {
    field: 'email',
    inTheWay,
  });
}

function requireRoleFor(actor: DashboardActor, target: string, role: DashboardRole | undefined): void {
  if (role && !mayManage(actor, role)) throw new RoleChangeDenied(OWNERS_ONLY, target);
}

function requireAllowedForSelf({ role, disabledAt }: Changes): void {
  if (role !== undefined) throw INVALID_FIELD.error(CANNOT_CHANGE_OWN_ROLE, { field: 'role' });
  if (disabledAt) throw INVALID_FIELD.error(CANNOT_DISABLE_YOURSELF);
}

/** Invited owners who have not set a password cannot log in, so they do not count. */
function isActiveOwner({ role, disabledAt, passwordHash }: DashboardUser): boolean {
  return role === 'owner' && disabledAt === null && passwordHash !== null;
}

function auditedOf({ name, role, disabledAt, isBreakGlass }: DashboardUser) {
  return { name, role, disabled: disabledAt !== null, break_glass: isBreakGlass };
}
