import { Injectable } from '@nestjs/common';
import type { DashboardRole } from '../../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
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
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { SsoSettingsRepository, type SsoSetting } from '../settings/sso-settings.repository.js';
import { roleIn } from '../settings/sso-settings.service.js';
import { REASONS, RefusedLogin, type ProviderIdentity } from './identity-provider.js';
import { SsoAttemptsRepository } from './sso-attempts.repository.js';
import { SsoIdentity } from './sso-attempt.entity.js';

/** Whom a login is for. */
export interface Person {
  /** Undefined for somebody who becomes a user, or accepts an invitation, with this login. */
  readonly user?: DashboardUser;
  readonly isInvited?: boolean;
  readonly name: string;
  readonly email: string;
  readonly role: DashboardRole;
  /** The role that the provider decided, if it decides roles. */
  readonly mappedRole?: DashboardRole | undefined;
}

const IDENTITY_KEYS = ['sso_identity_pkey', 'sso_identity_user_issuer_key'];

/** The users behind accounts at identity providers. */
@Injectable()
export class SsoUsersService {
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
    if (linked) return personOf(linked, roleIn(setting, identity));
    try {
      return await this.unlinked(setting, identity);
    } catch (error) {
      // A concurrent first login may have linked the account in the meantime.
      const linkedNow = await this.linked(organizationId, identity);
      if (!linkedNow) throw error;
      return personOf(linkedNow, roleIn(setting, identity));
    }
  }

  /** Links, creates and changes the user, as `find` said. @throws RefusedLogin if that is no longer possible */
  async provision(
    configuration: SsoConfiguration,
    identity: ProviderIdentity,
    person: Person,
    origin: RequestOrigin,
  ): Promise<DashboardUser> {
    // Before the transaction, because hashing takes long. Nobody knows the password.
    const passwordHash = person.user ? '' : await hashPassword(generatePassword());
    return this.provisionLocked(configuration, identity, { ...person, passwordHash }, origin);
  }

  @Transactional()
  private async provisionLocked(
    { organizationId, isOwnerApproved }: SsoConfiguration,
    identity: ProviderIdentity,
    person: Person & { readonly passwordHash: string },
    origin: RequestOrigin,
  ): Promise<DashboardUser> {
    const { user, name, email, role, mappedRole, passwordHash } = person;
    const actor: AuditActor = { organizationId, name, email, origin };
    // One at a time, so that two first logins of one person lead to one user.
    await this.users.lockUsersOf(organizationId);
    const linked = await this.attempts.findIdentity({ ...identity, organizationId });
    // Read again under the lock: a concurrent change of the role must not be undone.
    const known = linked?.userId ?? user?.id;
    const found = known
      ? await this.users.find(known)
      : await this.administration.admit({ organizationId, email, name, role, passwordHash }, actor);
    if (!found) throw new RefusedLogin(REASONS.notCreated);
    if (found.disabledAt) return found;
    if (!isOwnerApproved && [found.role, mappedRole].includes('owner'))
      throw new RefusedLogin(REASONS.notApproved);
    if (!linked) await this.link(found, { ...identity, organizationId }, actor);
    return mappedRole === undefined ? found : this.administration.applyRole(found, mappedRole, actor);
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
    { organizationId, issuer, subject }: ProviderIdentity & { readonly organizationId: string },
    actor: AuditActor,
  ): Promise<void> {
    const identity = { organizationId, issuer, subject, userId: id, linkedAt: this.clock.now() };
    // The account or the user may have been linked in the meantime.
    if (!(await this.transaction.insertNew(SsoIdentity, identity, ...IDENTITY_KEYS)))
      throw new RefusedLogin(REASONS.linkedElsewhere);
    await this.auditLog.record({ action: 'auth.provider_link', actor, target: { name: actor.email } });
  }
}

function personOf(user: DashboardUser, mappedRole: DashboardRole | undefined): Person {
  return { user, name: user.name, email: user.email, role: mappedRole ?? user.role, mappedRole };
}
