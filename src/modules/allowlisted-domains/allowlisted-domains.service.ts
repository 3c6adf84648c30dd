import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transaction, Transactional, type Check } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog } from '../audit-logs/index.js';
import { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { domainName, domainOf } from './domain-name.js';
import { ALLOWLISTED_DOMAIN_NOT_FOUND } from './allowlisted-domains-errors.js';

const DOMAIN_TAKEN = 'The domain has already been added.';
const ALL_DOMAINS = { path: '/dashboard/allowed-domains', name: 'Allowed domains' };
const KEY = 'allowlisted_domain_organization_domain_key';
const MAX_DOMAINS = 100;
const TOO_MANY_DOMAINS = `The organization already has the maximum of ${MAX_DOMAINS} allowed domains.`;

/** The email domains that an organization invites users from. If the list is empty, all domains are allowed. */
@Injectable()
export class AllowlistedDomainsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  list({ organizationId }: Pick<DashboardActor, 'organizationId'>): Promise<AllowlistedDomain[]> {
    return this.transaction.manager.find(AllowlistedDomain, {
      where: { organizationId },
      order: { domain: 'ASC' },
    });
  }

  /** @throws ApiError NOT_FOUND */
  async get({ organizationId }: DashboardActor, id: string): Promise<AllowlistedDomain> {
    const found = await this.transaction.findById(AllowlistedDomain, { organizationId, id });
    return ALLOWLISTED_DOMAIN_NOT_FOUND.requireFound(found);
  }

  /** @returns the ID of the domain */
  @Transactional()
  async add(actor: DashboardActor, written: string): Promise<string> {
    const { organizationId } = actor;
    await this.transaction.lock(`allowlisted-domains:${organizationId}`);
    if ((await this.transaction.manager.countBy(AllowlistedDomain, { organizationId })) >= MAX_DOMAINS)
      throw INVALID_FIELD.error(TOO_MANY_DOMAINS, { field: 'domain', inTheWay: ALL_DOMAINS });
    const domain = {
      id: randomUUID(),
      organizationId,
      domain: domainName(written) ?? '',
      createdAt: this.clock.now(),
    };
    if (!(await this.transaction.insertNew(AllowlistedDomain, domain, KEY)))
      throw INVALID_FIELD.error(DOMAIN_TAKEN, { field: 'domain', inTheWay: ALL_DOMAINS });
    await this.auditLog.record({ action: 'domain.add', actor, target: { name: domain.domain } });
    return domain.id;
  }

  @Transactional()
  async remove(actor: DashboardActor, id: string, check?: Check<AllowlistedDomain>): Promise<void> {
    const { domain } = await this.get(actor, id);
    await this.transaction.lockRow(AllowlistedDomain, { id }, check);
    // Another request may have removed it meanwhile.
    if (!(await this.transaction.deleteRow(AllowlistedDomain, { id })))
      throw ALLOWLISTED_DOMAIN_NOT_FOUND.error();
    await this.auditLog.record({ action: 'domain.remove', actor, target: { name: domain } });
  }

  /** Returns whether a user with this email may be invited. */
  async allow(organizationId: string, email: string): Promise<boolean> {
    const domains = await this.list({ organizationId });
    const own = domainOf(email);
    return domains.length === 0 || domains.some(({ domain }) => domain === own);
  }

  /** Returns the organization that has proved the domain of an email address. */
  async organizationOf(email: string): Promise<string | undefined> {
    const domain = domainOf(email);
    if (domain === undefined) return undefined;
    const where = { domain, provedAt: Not(IsNull()) };
    return (await this.transaction.manager.findOneBy(AllowlistedDomain, where))?.organizationId;
  }
}
