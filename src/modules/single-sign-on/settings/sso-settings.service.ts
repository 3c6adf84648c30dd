import { Injectable } from '@nestjs/common';
import {
  INSUFFICIENT_ROLE,
  type DashboardActor,
  type DashboardRole,
} from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog, changesBetween } from '../../audit-logs/index.js';
import { DashboardSessionsService } from '../../dashboard-login/index.js';
import {
  DashboardUsersService,
  UserAdministrationService,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import { claimIn, textsIn } from '../identity-claims.js';
import { RECENCY_REMEDY, type ProviderIdentity } from '../identity-provider.js';
import type { SsoSettingsRequest } from './sso-settings.dto.js';
import { SsoSettingsRepository } from './sso-settings.repository.js';
import type { SsoSetting } from './sso-setting.entity.js';

const NOT_ENABLED = 'Enable an identity provider, and test the login, before you require single sign-on.';
const NOT_IN_FORCE =
  'The enabled identity provider was changed after its last test login. Test it again: until a test succeeds, users can log in with their passwords, although you require single sign-on.';
const NO_BREAK_GLASS_OWNER =
  'No owner is marked as break-glass. Ask an owner to mark one, or to require single sign-on.';
const OWNERS_ONLY = 'Only an owner may mark owners as break-glass.';
const OWNERS_DECIDE =
  'Only an owner may decide which values make an owner, or whether a login counts as two factors.';

/** The settings of single sign-on of organizations. */
@Injectable()
export class SsoSettingsService {
  constructor(
    private readonly repository: SsoSettingsRepository,
    private readonly users: DashboardUsersService,
    private readonly administration: UserAdministrationService,
    private readonly sessions: DashboardSessionsService,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async get(organizationId: string): Promise<SsoSetting> {
    return this.repository.get(organizationId);
  }

  /** Returns what owners should know about the enabled provider: what its last test has shown, and what the settings need. */
  async problemOf(organizationId: string): Promise<string | null> {
    const enabled = await this.repository.findEnabled(organizationId);
    const { requiredAt } = await this.repository.get(organizationId);
    if (enabled && !enabled.testedAt && requiredAt) return NOT_IN_FORCE;
    return enabled?.recencyProblem ? `${enabled.recencyProblem} ${RECENCY_REMEDY}` : null;
  }

  async owners({ organizationId }: DashboardActor): Promise<DashboardUser[]> {
    return (await this.users.administrators(organizationId)).filter(({ role }) => role === 'owner');
  }

  /**
   * Changes the settings. Single sign-on can be required only with an enabled provider whose test succeeded, and with a break-glass
   * owner: an owner who requires it becomes one if there is none.
   *
   * @param check throws if the settings, which are locked, are not as expected
   * @throws ApiError INVALID_FIELD, INSUFFICIENT_ROLE for what concerns owners
   */
  @Transactional()
  async change(
    actor: DashboardActor,
    request: SsoSettingsRequest,
    check?: (current: SsoSetting) => void,
  ): Promise<void> {
    const { organizationId } = actor;
    const before = await this.repository.lock(organizationId);
    check?.(before);
    const requiredAt = request.required ? (before.requiredAt ?? this.clock.now()) : null;
    const setting: SsoSetting = {
      organizationId,
      createsUsers: request.creates_users,
      roleAttribute: request.role_attribute ?? null,
      ownerValues: valuesIn(request.owner_values),
      adminValues: valuesIn(request.admin_values),
      memberValues: valuesIn(request.member_values),
      isTwoFactor: request.is_two_factor,
      requiredAt,
    };
    if (JSON.stringify(setting) === JSON.stringify(before)) return;
    if (actor.role !== 'owner' && concernsOwners(before, setting))
      throw INSUFFICIENT_ROLE.error(OWNERS_DECIDE);
    if (requiredAt && !before.requiredAt) await this.prepareRequiring(actor);
    await this.repository.save(setting);
    if (before.isTwoFactor && !setting.isTwoFactor) await this.sessions.endProviderFactors(organizationId);
    const changes = changesBetween(auditedOf(before), auditedOf(setting));
    await this.auditLog.record({ action: 'sso.settings_update', actor, changes });
  }

  /** @throws ApiError INSUFFICIENT_ROLE, USER_NOT_FOUND, INVALID_FIELD for the last one while single sign-on is required */
  @Transactional()
  async markBreakGlass(actor: DashboardActor, userId: string, isBreakGlass: boolean): Promise<void> {
    if (actor.role !== 'owner') throw INSUFFICIENT_ROLE.error(OWNERS_ONLY);
    const { requiredAt } = await this.repository.lock(actor.organizationId);
    const user = await this.administration.markBreakGlass(actor, userId, isBreakGlass, requiredAt !== null);
    await this.recordMark(actor, user, isBreakGlass);
  }

  /** Lets users log in with passwords again. @returns whether this changed anything */
  @Transactional()
  async allowPasswords(organizationId: string): Promise<boolean> {
    const required = await this.repository.lock(organizationId);
    if (!required.requiredAt) return false;
    await this.repository.save({ ...required, requiredAt: null });
    return true;
  }

  private async prepareRequiring(actor: DashboardActor): Promise<void> {
    const enabled = await this.repository.findEnabled(actor.organizationId);
    if (!enabled?.testedAt) throw INVALID_FIELD.error(NOT_ENABLED, { field: 'required' });
    const owners = await this.owners(actor);
    if (owners.some(({ isBreakGlass }) => isBreakGlass)) return;
    if (!owners.some(({ id }) => id === actor.userId))
      throw INVALID_FIELD.error(NO_BREAK_GLASS_OWNER, { field: 'required' });
    const user = await this.administration.markBreakGlass(actor, actor.userId, true, false);
    await this.recordMark(actor, user, true);
  }

  /** @param user as before the change */
  private async recordMark(actor: DashboardActor, user: DashboardUser, isBreakGlass: boolean): Promise<void> {
    const changes = changesBetween({ break_glass: user.isBreakGlass }, { break_glass: isBreakGlass });
    if (changes.length === 0) return;
    await this.auditLog.record({ action: 'user.update', actor, target: { name: user.email }, changes });
  }
}

/** Returns whether a change decides who becomes or stays an owner (a mapping without values for owners lets none stay), or weakens the second factor of owners. */
function concernsOwners(before: SsoSetting, after: SsoSetting): boolean {
  const ownersOf = ({ ownerValues, roleAttribute }: SsoSetting): string =>
    JSON.stringify(roleAttribute === null ? [] : [roleAttribute, ...ownerValues]);
  return before.isTwoFactor !== after.isTwoFactor || ownersOf(before) !== ownersOf(after);
}

/** The settings with the names of the form's fields. */
function auditedOf(setting: SsoSetting) {
  return {
    required: setting.requiredAt !== null,
    counts_as_two_factors: setting.isTwoFactor,
    creates_users: setting.createsUsers,
    role_attribute: setting.roleAttribute,
    owner_values: setting.ownerValues,
    admin_values: setting.adminValues,
    member_values: setting.memberValues,
  };
}

/**
 * Returns the role that the provider sent, or `viewer` if it sent none of the values.
 *
 * @returns undefined if the provider does not decide the role
 */
export function roleIn(setting: SsoSetting, { claims }: ProviderIdentity): DashboardRole | undefined {
  const { roleAttribute, ownerValues, adminValues, memberValues } = setting;
  if (roleAttribute === null) return undefined;
  const sent = textsIn(claimIn(claims, roleAttribute) ?? []);
  const has = (values: readonly string[]): boolean => values.some((value) => sent.includes(value));
  if (has(ownerValues)) return 'owner';
  if (has(adminValues)) return 'admin';
  return has(memberValues) ? 'member' : 'viewer';
}

/** Attributes and claims of Microsoft that stand for the groups of a person who has too many. */
const TOO_MANY_GROUPS = ['hasgroups', 'http://schemas.microsoft.com/claims/groups.link'];

/** Returns why a person is a viewer although the provider decides roles; undefined if it sent one of the values. */
export function roleProblemIn(setting: SsoSetting, identity: ProviderIdentity): string | undefined {
  const { roleAttribute: name } = setting;
  const { claims } = identity;
  if (name === null || roleIn(setting, identity) !== 'viewer') return undefined;
  if (claimIn(claims, name) !== undefined)
    return `“${name}”, which decides the role, has none of the values in the settings. Therefore, the role is Viewer.`;
  // OpenID Connect Core, section 5.6.2.
  const isElsewhere =
    Object.hasOwn(Object(claims['_claim_names']), name) ||
    TOO_MANY_GROUPS.some((each) => Object.hasOwn(claims, each));
  const reason = isElsewhere
    ? 'Instead of it, the identity provider sent an address where it can be asked for, usually because the person is in too many groups. This service does not ask there: let the identity provider send only the groups that are assigned to this application, or app roles.'
    : 'Compare the name with what the identity provider sent, and add the claim there.';
  return `The identity provider did not send “${name}”, which decides the role. Therefore, the role is Viewer. ${reason}`;
}

/** Values are separated by commas. One that contains commas, such as a name in LDAP, is in quotation marks. */
function valuesIn(text = ''): string[] {
  return [...text.matchAll(/\s*"([^"]*)"\s*(?=,|$)|[^,]+/g)]
    .map(([value, quoted]) => (quoted ?? value).trim())
    .filter(Boolean);
}

/** Returns the text that `valuesIn` reads. */
export function textOf(values: readonly string[]): string {
  return values.map((value) => (value.includes(',') ? `"${value}"` : value)).join(', ');
}
