import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { ProviderRequirement, type RequiredUser } from '../../dashboard-login/index.js';
import { DashboardUsersRepository } from '../../dashboard-users/index.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
import { SsoSetting } from './sso-setting.entity.js';

const DEFAULTS = {
  createsUsers: false,
  roleAttribute: null,
  ownerValues: [],
  adminValues: [],
  memberValues: [],
  isTwoFactor: false,
  requiredAt: null,
};

/** The settings of organizations, and whom they forbid to log in with a password. */
@Injectable()
export class SsoSettingsRepository extends ProviderRequirement {
  constructor(
    private readonly transaction: Transaction,
    private readonly users: DashboardUsersRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async get(organizationId: string): Promise<SsoSetting> {
    const stored = await this.transaction.manager.findOneBy(SsoSetting, { organizationId });
    return stored ?? { organizationId, ...DEFAULTS };
  }

  /** Serializes changes until the transaction ends. */
  async lock(organizationId: string): Promise<SsoSetting> {
    await this.transaction.lock(`sso-settings:${organizationId}`);
    return this.get(organizationId);
  }

  async save(setting: SsoSetting): Promise<void> {
    await this.transaction.manager.save(SsoSetting, setting);
  }

  findEnabled(organizationId: string): Promise<SsoConfiguration | null> {
    const enabled = { organizationId, enabledAt: Not(IsNull()) };
    return this.transaction.manager.findOneBy(SsoConfiguration, enabled);
  }

  /** Returns the enabled providers through which users need not log in, although they have to: no test covers their last change. */
  notInForce(): Promise<Pick<SsoConfiguration, 'id' | 'organizationId' | 'name' | 'revision'>[]> {
    return this.transaction.manager
      .createQueryBuilder(SsoConfiguration, 'provider')
      .select(['provider.id', 'provider.organizationId', 'provider.name', 'provider.revision'])
      .innerJoin(SsoSetting, 'setting', 'setting.organizationId = provider.organizationId')
      .where({ enabledAt: Not(IsNull()), testedAt: IsNull() })
      .andWhere('setting.requiredAt IS NOT NULL')
      .getMany();
  }

  /**
   * Single sign-on is required only while a provider is enabled whose test covers its last change, so that disabling it, or a wrong
   * client secret, locks nobody out. A provider that no owner has enabled refuses owners, so it is not required of them.
   */
  override async appliesTo(user: RequiredUser): Promise<boolean> {
    const { organizationId, role, isBreakGlass } = user;
    if (role === 'owner' && isBreakGlass) return false;
    if ((await this.get(organizationId)).requiredAt === null) return false;
    const enabled = await this.findEnabled(organizationId);
    if (!enabled?.testedAt) return false;
    return enabled.isOwnerApproved || (await this.users.effectiveRole(user, this.clock.now())) !== 'owner';
  }
}
