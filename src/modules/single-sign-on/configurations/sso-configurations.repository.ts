import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { Transaction, unlessDuplicate } from '../../../infrastructure/database/index.js';
import { SsoConfiguration } from './sso-configuration.entity.js';

/** A configuration, or only if it belongs to the organization. */
type Reference = Pick<SsoConfiguration, 'id'> & Partial<Pick<SsoConfiguration, 'organizationId'>>;

@Injectable()
export class SsoConfigurationsRepository {
  constructor(private readonly transaction: Transaction) {}

  async find(reference: Reference): Promise<SsoConfiguration | null> {
    return this.transaction.manager.findOneBy(SsoConfiguration, reference);
  }

  async findEnabled(organizationId: string): Promise<SsoConfiguration | null> {
    const enabled = { organizationId, enabledAt: Not(IsNull()) };
    return this.transaction.manager.findOneBy(SsoConfiguration, enabled);
  }

  /** Returns the configuration, locked against concurrent changes. */
  async lock(reference: Reference): Promise<SsoConfiguration | null> {
    return this.transaction.lockRow(SsoConfiguration, reference);
  }

  /** @returns false when another configuration of the organization is enabled */
  async change(id: string, changes: Partial<SsoConfiguration>): Promise<boolean> {
    return unlessDuplicate(
      () => this.transaction.manager.update(SsoConfiguration, { id }, changes),
      'saml_configuration_enabled_key',
    );
  }
}
