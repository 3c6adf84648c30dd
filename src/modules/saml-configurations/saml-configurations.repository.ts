import { Injectable } from '@nestjs/common';
import { Transaction, unlessDuplicate } from '../../infrastructure/database/index.js';
import { SamlConfiguration } from './saml-configuration.entity.js';

@Injectable()
export class SamlConfigurationsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns configurations in the order in which they were added. */
  async list(organizationId: string): Promise<SamlConfiguration[]> {
    return this.transaction.manager.find(SamlConfiguration, {
      where: { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** Serializes additions until the transaction ends. @returns the number of configurations */
  async lockAndCount(organizationId: string): Promise<number> {
    await this.transaction.lock(`saml-configurations:${organizationId}`);
    return this.transaction.manager.countBy(SamlConfiguration, { organizationId });
  }

  async add(configuration: SamlConfiguration): Promise<void> {
    await this.transaction.manager.insert(SamlConfiguration, configuration);
  }

  async find(organizationId: string, id: string): Promise<SamlConfiguration | null> {
    return this.transaction.manager.findOneBy(SamlConfiguration, { organizationId, id });
  }

  /** Returns the configuration, locked against concurrent changes. */
  async lock(organizationId: string, id: string): Promise<SamlConfiguration | null> {
    return this.transaction.manager.findOne(SamlConfiguration, {
      where: { organizationId, id },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** @returns false when another configuration of the organization is enabled */
  async change(id: string, changes: Partial<SamlConfiguration>): Promise<boolean> {
    return unlessDuplicate(
      () => this.transaction.manager.update(SamlConfiguration, { id }, changes),
      'saml_configuration_enabled_key',
    );
  }
}
