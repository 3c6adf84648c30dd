import { Injectable } from '@nestjs/common';
import { Column, Entity, IsNull, Not, PrimaryColumn } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { ProviderRequirement } from '../../dashboard-login/index.js';
import type { DashboardUser } from '../../dashboard-users/index.js';
import { SsoConfiguration } from '../configurations/sso-configuration.entity.js';

/** What an organization decides about single sign-on. */
@Entity({ name: 'sso_setting' })
export class SsoSetting {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** Whether people with an address in a proved domain become users when they log in for the first time. */
  @Column({ name: 'creates_users', type: 'boolean' })
  createsUsers!: boolean;

  /** The claim or attribute whose values decide the role; null if the provider does not decide it. */
  @Column({ name: 'role_attribute', type: 'text', nullable: true })
  roleAttribute!: string | null;

  /** The values for each role. Everybody else is a viewer. */
  @Column({ name: 'owner_values', type: 'text', array: true })
  ownerValues!: string[];

  @Column({ name: 'admin_values', type: 'text', array: true })
  adminValues!: string[];

  @Column({ name: 'member_values', type: 'text', array: true })
  memberValues!: string[];

  @Column({ name: 'is_two_factor', type: 'boolean' })
  isTwoFactor!: boolean;

  /** Since when everybody but break-glass owners must log in at the provider; null if passwords work, too. */
  @Column({ name: 'required_at', type: 'timestamptz', precision: 3, nullable: true })
  requiredAt!: Date | null;
}

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
  constructor(private readonly transaction: Transaction) {
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

  /** Single sign-on is required only while a provider is enabled, so that disabling it locks nobody out. */
  override async appliesTo({
    organizationId,
    role,
    isBreakGlass,
  }: Pick<DashboardUser, 'organizationId' | 'role' | 'isBreakGlass'>): Promise<boolean> {
    if (role === 'owner' && isBreakGlass) return false;
    if ((await this.get(organizationId)).requiredAt === null) return false;
    return (await this.findEnabled(organizationId)) !== null;
  }
}
