import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { ProviderRequirement } from '../../dashboard-login/index.js';
import type { DashboardUser } from '../../dashboard-users/index.js';
import { SsoConfigurationsRepository } from '../configurations/sso-configurations.repository.js';
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
    private readonly configurations: SsoConfigurationsRepository,
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

  /** Single sign-on is required only while a provider is enabled, so that disabling it locks nobody out. */
  override async appliesTo({
    organizationId,
    role,
    isBreakGlass,
  }: Pick<DashboardUser, 'organizationId' | 'role' | 'isBreakGlass'>): Promise<boolean> {
    if (role === 'owner' && isBreakGlass) return false;
    if ((await this.get(organizationId)).requiredAt === null) return false;
    return (await this.configurations.findEnabled(organizationId)) !== null;
  }
}
