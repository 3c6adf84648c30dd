import { Injectable } from '@nestjs/common';
import { IsNull, LessThan, Not } from 'typeorm';
import { Transaction, unlessDuplicate } from '../../infrastructure/database/index.js';
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

  async find(organizationId: string, id: string): Promise<AllowlistedDomain | null> {
    return this.transaction.manager.findOneBy(AllowlistedDomain, { organizationId, id });
  }

  /** Returns the entry of the organization that has proved the domain. */
  async findProved(domain: string): Promise<AllowlistedDomain | null> {
    return this.transaction.manager.findOneBy(AllowlistedDomain, { domain, provedAt: Not(IsNull()) });
  }

  /** Returns proved domains whose last check was before this time, the oldest check first. */
  async toCheck(checkedBefore: Date, limit: number): Promise<AllowlistedDomain[]> {
    return this.transaction.manager.find(AllowlistedDomain, {
      where: { provedAt: Not(IsNull()), proofCheckedAt: LessThan(checkedBefore) },
      order: { proofCheckedAt: 'ASC' },
      take: limit,
    });
  }

  /** Stores the result of a check. @returns false if another organization has proved the domain */
  async change(id: string, changes: Partial<AllowlistedDomain>): Promise<boolean> {
    return unlessDuplicate(
      () => this.transaction.manager.update(AllowlistedDomain, { id }, changes),
      'allowlisted_domain_proved_key',
    );
  }

  /** @returns the removed domain, to only one of several concurrent calls */
  async remove(organizationId: string, id: string): Promise<AllowlistedDomain | null> {
    const domain = await this.transaction.manager.findOneBy(AllowlistedDomain, { organizationId, id });
    const { affected } = await this.transaction.manager.delete(AllowlistedDomain, { organizationId, id });
    return affected === 1 ? domain : null;
  }
}
