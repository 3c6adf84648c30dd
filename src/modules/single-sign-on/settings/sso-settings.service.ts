import { Injectable } from '@nestjs/common';
import type { DashboardActor, DashboardRole } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INSUFFICIENT_ROLE, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog, changesBetween } from '../../audit-logs/index.js';
import {
  DashboardUsersService,
  UserAdministrationService,
  type DashboardUser,
} from '../../dashboard-users/index.js';
import type { ProviderIdentity } from '../logins/identity-provider.js';
import type { SsoSettingsRequest } from './sso-settings.dto.js';
import { SsoSettingsRepository, type SsoSetting } from './sso-settings.repository.js';

const NOT_ENABLED = 'Enable an identity provider, and test the login, before you require single sign-on.';
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
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async get(organizationId: string): Promise<SsoSetting> {
    return this.repository.get(organizationId);
  }

  /** Returns why logins at the enabled provider do not prove that they are recent, according to its last test; null if they do. */
  async recencyProblemOf(organizationId: string): Promise<string | null> {
    return (await this.repository.findEnabled(organizationId))?.recencyProblem ?? null;
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
    if (!enabled?.testedAt) throw INVALID_FIELD.error(NOT_ENABLED);
    const owners = await this.owners(actor);
    if (owners.some(({ isBreakGlass }) => isBreakGlass)) return;
    if (!owners.some(({ id }) => id === actor.userId)) throw INVALID_FIELD.error(NO_BREAK_GLASS_OWNER);
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

/** Returns whether a change decides who becomes an owner, or weakens the second factor of owners. */
function concernsOwners(before: SsoSetting, after: SsoSetting): boolean {
  const ownersOf = ({ ownerValues, roleAttribute }: SsoSetting): string =>
    JSON.stringify(ownerValues.length === 0 ? [] : [roleAttribute, ...ownerValues]);
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
  const sent = Object.hasOwn(claims, roleAttribute) ? [claims[roleAttribute]].flat() : [];
  const has = (values: readonly string[]): boolean => values.some((value) => sent.includes(value));
  if (has(ownerValues)) return 'owner';
  if (has(adminValues)) return 'admin';
  return has(memberValues) ? 'member' : 'viewer';
}

function valuesIn(text = ''): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter(Boolean);
}
