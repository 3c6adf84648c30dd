import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { Transaction, unlessDuplicate } from '../../../infrastructure/database/index.js';
import { SsoConfiguration, type SsoProtocol } from './sso-configuration.entity.js';

/** Which configuration is meant. Those of other organizations are never found. */
interface Reference {
  readonly organizationId: string;
  readonly id: string;
  /** Defaults to both. */
  readonly protocol?: SsoProtocol;
}

@Injectable()
export class SsoConfigurationsRepository {
  constructor(private readonly transaction: Transaction) {}

  async find(reference: Reference | Pick<SsoConfiguration, 'id'>): Promise<SsoConfiguration | null> {
    return this.transaction.manager.findOneBy(SsoConfiguration, reference);
  }

  async findEnabled(organizationId: string): Promise<SsoConfiguration | null> {
    const enabled = { organizationId, enabledAt: Not(IsNull()) };
    return this.transaction.manager.findOneBy(SsoConfiguration, enabled);
  }

  /** Returns the configuration, locked against concurrent changes. */
  async lock(reference: Reference | Pick<SsoConfiguration, 'id'>): Promise<SsoConfiguration | null> {
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
