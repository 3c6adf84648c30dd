import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { AllowlistedDomain } from './allowlisted-domain.entity.js';

@Injectable()
export class AllowlistedDomainsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns domains in alphabetical order. */
  async list(organizationId: string): Promise<AllowlistedDomain[]> {
    return this.transaction.manager.find(AllowlistedDomain, {
      where: { organizationId },
      order: { domain: 'ASC' },
    });
  }

  /** Serializes additions until the transaction ends. @returns the number of domains */
  async lockAndCount(organizationId: string): Promise<number> {
    await this.transaction.lock(`allowlisted-domains:${organizationId}`);
    return this.transaction.manager.countBy(AllowlistedDomain, { organizationId });
  }

  /** @returns false when the list already contains the domain */
  async add(domain: AllowlistedDomain): Promise<boolean> {
    return this.transaction.insertNew(
      AllowlistedDomain,
      domain,
      'allowlisted_domain_organization_domain_key',
    );
  }

  /** @returns the removed domain, to only one of several concurrent calls */
  async remove(organizationId: string, id: string): Promise<AllowlistedDomain | null> {
    const domain = await this.transaction.manager.findOneBy(AllowlistedDomain, { organizationId, id });
    const { affected } = await this.transaction.manager.delete(AllowlistedDomain, { organizationId, id });
    return affected === 1 ? domain : null;
  }
}
