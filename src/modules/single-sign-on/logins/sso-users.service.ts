import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import type { DashboardRole } from '../../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import { AuditLog, type AuditActor } from '../../audit-logs/index.js';
import {
  DashboardUsersRepository,
  generatePassword,
  hashPassword,
  UserAdministrationService,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
import { SsoSettingsRepository } from '../settings/sso-settings.repository.js';
import type { SsoSetting } from '../settings/sso-setting.entity.js';
import { roleIn } from '../settings/sso-settings.service.js';
import {
  REASONS,
  RefusedLogin,
  requireCertificates,
  type ProviderIdentity,
  type VerifiedIdentity,
} from '../identity-provider.js';
import { SsoAttemptsRepository } from './sso-attempts.repository.js';
import { SsoIdentity } from '../sso-attempt.entity.js';

/** The user whom a login is for, and whether an owner approved the provider. */
export interface ProvisionedUser {
  readonly user: DashboardUser;
  readonly isOwnerApproved: boolean;
  /** Also true if the account was linked to the user before. */
  readonly isProviderApproved: boolean;
}

/** The person that a login is for. */
export interface Person {
  /** Undefined for somebody who becomes a user, or accepts an invitation, with this login. */
  readonly user?: DashboardUser;
  readonly isInvited?: boolean;
  /** Whether the account was linked to the user before. */
  readonly isLinked?: boolean;
  readonly name: string;
  readonly email: string;
  readonly role: DashboardRole;
  /** The role that the provider decided, if it decides roles. */
  readonly mappedRole?: DashboardRole | undefined;
}

/** The result of `find` before the transaction that provisions the user. */
interface Expected extends Pick<Person, 'isLinked'> {
  /** The hash for a new user; empty if there is one already. */
  readonly passwordHash: string;
}

const IDENTITY_KEYS = ['sso_identity_pkey', 'sso_identity_user_issuer_key'];

/** The users behind accounts at identity providers. */
@Injectable()
export class SsoUsersService {
  /** By organization, whose users are locked meanwhile: many logins at once must not occupy the connections of all others. */
  private readonly provisions = new KeyedQueue(1);

  constructor(
    private readonly transaction: Transaction,
    private readonly attempts: SsoAttemptsRepository,
    private readonly settings: SsoSettingsRepository,
    private readonly domains: AllowlistedDomainsService,
    private readonly users: DashboardUsersRepository,
    private readonly administration: UserAdministrationService,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the user that the account is linked to, or whom this login links or creates, or whose invitation it accepts. The email
   * address counts only before the account is linked, if it is verified and its domain proved by this organization. Changes
   * nothing.
   *
   * @throws RefusedLogin with the reason
   */
  async find({ organizationId }: SsoConfiguration, identity: ProviderIdentity): Promise<Person> {
    const setting = await this.settings.get(organizationId);
    const linked = await this.linked(organizationId, identity);
    if (linked) return { ...personOf(linked, roleIn(setting, identity)), isLinked: true };
    try {
      return await this.unlinked(setting, identity);
    } catch (error) {
      // A concurrent first login may have linked the account in the meantime.
      const linkedNow = await this.linked(organizationId, identity);
      if (!linkedNow) throw error;
      return personOf(linkedNow, roleIn(setting, identity));
    }
  }

  /**
   * Links, creates and changes the user, as `find` said.
   *
   * @param open opens the session, in the same transaction: an admin who unlinks or disables the user afterwards ends it
   * @throws RefusedLogin if that is no longer possible
   */
  async provision<Opened>(
    configuration: SsoConfiguration,
    identity: VerifiedIdentity,
    person: Person,
    origin: RequestOrigin,
    open: (provisioned: ProvisionedUser) => Promise<Opened>,
  ): Promise<Opened> {
    // Before the transaction, because hashing takes long. Nobody knows the password.
    const passwordHash = person.user ? '' : await hashPassword(generatePassword());
    const expected = { isLinked: person.isLinked, passwordHash };
    return this.provisions.run(configuration.organizationId, () =>
      this.provisionAndOpen(configuration, identity, expected, origin, open),
    );
  }

  @Transactional()
  private async provisionAndOpen<Opened>(
    configuration: SsoConfiguration,
    identity: VerifiedIdentity,
    expected: Expected,
    origin: RequestOrigin,
    open: (provisioned: ProvisionedUser) => Promise<Opened>,
  ): Promise<Opened> {
    return open(await this.provisionLocked(configuration, identity, expected, origin));
  }

  private async provisionLocked(
    configuration: SsoConfiguration,
    identity: VerifiedIdentity,
    { isLinked, passwordHash }: Expected,
    origin: RequestOrigin,
  ): Promise<ProvisionedUser> {
    const { id, organizationId, revision } = configuration;
    // First logins run one at a time, so that two first logins of one person lead to one user.
    await this.users.lockUsersOf(organizationId);
    // The provider may have taken long to respond, and its configuration may have been disabled or changed meanwhile.
    const enabled = { id, enabledAt: Not(IsNull()) };
    const current = await this.transaction.manager.findOneBy(SsoConfiguration, enabled);
    if (!current) throw new RefusedLogin(REASONS.disabled);
    if (current.revision !== revision) throw new RefusedLogin(REASONS.changedMeanwhile);
    // A certificate alone does not increase the revision.
    requireCertificates(identity, current);
    const isProviderApproved = current.isOwnerApproved && identity.isOwnerApproved;
    const linked = await this.attempts.findIdentity({ ...identity, organizationId });
    // An admin has unlinked the account meanwhile.
    if (isLinked && !linked) throw new RefusedLogin(REASONS.noUser);
    // The settings, the user, or the proof of the domain may have changed meanwhile.
    const { user, name, email, role, mappedRole } = await this.find(configuration, identity);
    const actor: AuditActor = { organizationId, name, email, origin };
    const isOwnerApproved = isProviderApproved && linked?.isOwnerApproved !== false;
    // A user who was removed since `find` before the transaction would need a password.
    if (!user && passwordHash === '') throw new RefusedLogin(REASONS.notCreated);
    const found = user
      ? await this.users.lock(user.id)
      : await this.administration.admit({ organizationId, email, name, role, passwordHash }, actor);
    if (!found) throw new RefusedLogin(REASONS.notCreated);
    const provisioned = { user: found, isOwnerApproved, isProviderApproved };
    if (found.disabledAt) return provisioned;
    const roles = [await this.users.effectiveRole(found, this.clock.now()), mappedRole];
    if (!isOwnerApproved && roles.includes('owner'))
      throw new RefusedLogin(isProviderApproved ? REASONS.linkNotApproved : REASONS.notApproved);
    if (!linked) await this.link(found, { ...identity, organizationId, isOwnerApproved }, actor);
    if (mappedRole !== undefined) await this.administration.applyRole(found, mappedRole, actor);
    return provisioned;
  }

  /** Returns the user that the account is linked to. @throws RefusedLogin if the link outlives the user */
  private async linked(
    organizationId: string,
    identity: ProviderIdentity,
  ): Promise<DashboardUser | undefined> {
    const link = await this.attempts.findIdentity({ ...identity, organizationId });
    if (!link) return undefined;
    const user = await this.users.find(link.userId);
    if (!user) throw new RefusedLogin(REASONS.noUser);
    return user;
  }

  private async unlinked(setting: SsoSetting, identity: ProviderIdentity): Promise<Person> {
    const { organizationId, createsUsers } = setting;
    const { email, isEmailVerified, issuer } = identity;
    if (email === undefined) throw new RefusedLogin(REASONS.noEmail);
    if (!isEmailVerified) throw new RefusedLogin(REASONS.unverified);
    if ((await this.domains.organizationOf(email)) !== organizationId) throw new RefusedLogin(REASONS.domain);
    const mapped = roleIn(setting, identity);
    const user = await this.users.findWithPassword(email);
    if (user?.organizationId === organizationId) {
      const link = { userId: user.id, issuer };
      if (await this.transaction.manager.existsBy(SsoIdentity, link))
        throw new RefusedLogin(REASONS.linkedElsewhere);
      return personOf(user, mapped);
    }
    const invited = await this.users.findInvited(organizationId, email);
    if (!invited && !createsUsers) throw new RefusedLogin(REASONS.noUser);
    if (user) throw new RefusedLogin(REASONS.notCreated);
    if (invited?.disabledAt) throw new RefusedLogin(REASONS.userDisabled);
    const name = invited?.name ?? identity.name ?? email;
    const role = mapped ?? invited?.role ?? 'viewer';
    return { isInvited: invited !== null, name, email, role, mappedRole: mapped };
  }

  private async link(
    { id }: DashboardUser,
    {
      organizationId,
      issuer,
      subject,
      isOwnerApproved,
    }: ProviderIdentity & Pick<SsoIdentity, 'organizationId' | 'isOwnerApproved'>,
    actor: AuditActor,
  ): Promise<void> {
    const linkedAt = this.clock.now();
    const identity = { organizationId, issuer, subject, userId: id, linkedAt, isOwnerApproved };
    // The account or the user may have been linked in the meantime.
    if (!(await this.transaction.insertNew(SsoIdentity, identity, ...IDENTITY_KEYS)))
      throw new RefusedLogin(REASONS.linkedElsewhere);
    await this.auditLog.record({ action: 'auth.provider_link', actor, target: { name: actor.email } });
  }
}

function personOf(user: DashboardUser, mappedRole: DashboardRole | undefined): Person {
  return { user, name: user.name, email: user.email, role: mappedRole ?? user.role, mappedRole };
}
