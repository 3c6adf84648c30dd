import { Injectable } from '@nestjs/common';
import type { DashboardRole } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import { AuditLog, type AuditActor } from '../../audit-logs/index.js';
import {
  DashboardUsersRepository,
  UserAdministrationService,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { SsoSettingsRepository } from '../settings/sso-settings.repository.js';
import { roleIn } from '../settings/sso-settings.service.js';
import type { ProviderIdentity } from './identity-provider.js';
import { REASONS, RefusedLogin } from './refused-login.js';
import { SsoAttemptsRepository } from './sso-attempts.repository.js';

/** Whom a login is for. */
export interface Person {
  /** Undefined for somebody who becomes a user, or accepts an invitation, with this login. */
  readonly user?: DashboardUser;
  readonly isInvited?: boolean;
  readonly name: string;
  readonly email: string;
  /** The role after the login. */
  readonly role: DashboardRole;
}

/** The users behind accounts at identity providers. */
@Injectable()
export class SsoUsersService {
  constructor(
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
    const { issuer, subject } = identity;
    const setting = await this.settings.get(organizationId);
    const mapped = roleIn(setting, identity);
    const linked = await this.attempts.findIdentity({ organizationId, issuer, subject });
    const user = linked
      ? await this.users.find(linked.userId)
      : await this.unlinked(organizationId, identity);
    if (user) return { user, name: user.name, email: user.email, role: mapped ?? user.role };
    const { email = '' } = identity;
    const invited = await this.users.findInvited(organizationId, email);
    if (linked || (!invited && !setting.createsUsers)) throw new RefusedLogin(REASONS.noUser);
    if (await this.users.findWithPassword(email)) throw new RefusedLogin(REASONS.notCreated);
    if (invited?.disabledAt) throw new RefusedLogin(REASONS.userDisabled);
    const name = invited?.name ?? identity.name ?? email;
    return { isInvited: invited !== null, name, email, role: mapped ?? invited?.role ?? 'viewer' };
  }

  /** Links, creates and changes the user, as `find` said. @throws RefusedLogin if that is no longer possible */
  @Transactional()
  async admit(
    { organizationId }: SsoConfiguration,
    identity: ProviderIdentity,
    person: Person,
    origin: RequestOrigin,
  ): Promise<DashboardUser> {
    const { user, name, email, role } = person;
    const actor: AuditActor = { organizationId, name, email, origin };
    // One at a time, so that two first logins of one person lead to one user.
    await this.users.lockUsersOf(organizationId);
    const { issuer, subject } = identity;
    const linked = await this.attempts.findIdentity({ organizationId, issuer, subject });
    const found = linked
      ? await this.users.find(linked.userId)
      : (user ?? (await this.administration.admit({ organizationId, email, name, role }, actor)));
    if (!found) throw new RefusedLogin(REASONS.notCreated);
    if (found.disabledAt) return found;
    if (!linked) await this.link(found, { ...identity, organizationId }, actor);
    return this.administration.applyRole(found, role, actor);
  }

  private async unlinked(
    organizationId: string,
    { email, isEmailVerified, issuer }: ProviderIdentity,
  ): Promise<DashboardUser | undefined> {
    if (email === undefined) throw new RefusedLogin(REASONS.noEmail);
    if (!isEmailVerified) throw new RefusedLogin(REASONS.unverified);
    if ((await this.domains.organizationOf(email)) !== organizationId) throw new RefusedLogin(REASONS.domain);
    const user = await this.users.findWithPassword(email);
    if (user?.organizationId !== organizationId) return undefined;
    if (await this.attempts.hasIdentity(user.id, issuer)) throw new RefusedLogin(REASONS.linkedElsewhere);
    return user;
  }

  private async link(
    { id }: DashboardUser,
    { organizationId, issuer, subject }: ProviderIdentity & { readonly organizationId: string },
    actor: AuditActor,
  ): Promise<void> {
    const identity = { organizationId, issuer, subject, userId: id, linkedAt: this.clock.now() };
    if (!(await this.attempts.link(identity))) throw new RefusedLogin(REASONS.linkedElsewhere);
    await this.auditLog.record({ action: 'auth.provider_link', actor, target: { name: actor.email } });
  }
}
