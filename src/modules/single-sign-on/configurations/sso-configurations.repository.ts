import { Injectable } from '@nestjs/common';
import { IsNull, LessThan, Not } from 'typeorm';
import { Transaction, unlessDuplicate } from '../../../infrastructure/database/index.js';
import { SsoConfiguration, type SsoProtocol } from './sso-configuration.entity.js';

/** Which configuration is meant. Those of other organizations are never found. */
interface Reference {
  readonly organizationId: string;
  readonly id: string;
  /** Defaults to both. */
  readonly protocol?: SsoProtocol;
}

/** What the service needs to know about a configuration whose certificate expires. */
export type CertificateOwner = Pick<
  SsoConfiguration,
  'id' | 'organizationId' | 'name' | 'certificates' | 'expiryNotifiedAt'
>;

@Injectable()
export class SsoConfigurationsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns configurations in the order in which they were added. */
  async list(organizationId: string): Promise<SsoConfiguration[]> {
    return this.transaction.manager.find(SsoConfiguration, {
      where: { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** Serializes additions until the transaction ends. @returns the number of configurations, of both protocols */
  async lockAndCount(organizationId: string): Promise<number> {
    await this.transaction.lock(`saml-configurations:${organizationId}`);
    return this.transaction.manager.countBy(SsoConfiguration, { organizationId });
  }

  /** @returns false if there is a configuration with this ID */
  async add(configuration: SsoConfiguration): Promise<boolean> {
    return this.transaction.insertNew(SsoConfiguration, configuration, 'saml_configuration_pkey');
  }

  async find(reference: Reference | Pick<SsoConfiguration, 'id'>): Promise<SsoConfiguration | null> {
    return this.transaction.manager.findOneBy(SsoConfiguration, reference);
  }

  async findEnabled(organizationId: string): Promise<SsoConfiguration | null> {
    const enabled = { organizationId, enabledAt: Not(IsNull()) };
    return this.transaction.manager.findOneBy(SsoConfiguration, enabled);
  }

  /** Returns the enabled configurations of all organizations, without their metadata, which may have 256 KiB each. */
  async listEnabled(protocol: SsoProtocol): Promise<CertificateOwner[]> {
    return this.transaction.manager.find(SsoConfiguration, {
      select: { id: true, organizationId: true, name: true, certificates: true, expiryNotifiedAt: true },
      where: { protocol, enabledAt: Not(IsNull()) },
    });
  }

  /** Returns the enabled configurations whose metadata was fetched before a time, oldest first. */
  async listDue(checkedBefore: Date, limit: number): Promise<SsoConfiguration[]> {
    return this.transaction.manager.find(SsoConfiguration, {
      where: {
        enabledAt: Not(IsNull()),
        metadataUrl: Not(IsNull()),
        metadataCheckedAt: LessThan(checkedBefore),
      },
      order: { metadataCheckedAt: 'ASC' },
      take: limit,
    });
  }

  /** Returns the configuration, locked against concurrent changes. */
  async lock(reference: Reference | Pick<SsoConfiguration, 'id'>): Promise<SsoConfiguration | null> {
    return this.transaction.manager.findOne(SsoConfiguration, {
      where: { ...reference },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** @returns false when another configuration of the organization is enabled */
  async change(id: string, changes: Partial<SsoConfiguration>): Promise<boolean> {
    return unlessDuplicate(
      () => this.transaction.manager.update(SsoConfiguration, { id }, changes),
      'saml_configuration_enabled_key',
    );
  }
}
