import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { ErrorKind, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog } from '../audit-logs/index.js';
import type { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { domainName, domainOf } from './allowlisted-domains.dto.js';
import { AllowlistedDomainsRepository } from './allowlisted-domains.repository.js';

const ALLOWLISTED_DOMAIN_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The organization has no allowed domain with this ID.',
  message: 'There is no allowed domain with this ID.',
});

const DOMAIN_TAKEN = 'The domain has already been added.';
const MAX_DOMAINS = 100;
const TOO_MANY_DOMAINS = `The organization already has the maximum of ${MAX_DOMAINS} allowed domains.`;

/** The email domains that an organization invites users from. If the list is empty, all domains are allowed. */
@Injectable()
export class AllowlistedDomainsService {
  constructor(
    private readonly repository: AllowlistedDomainsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  list({ organizationId }: DashboardActor): Promise<AllowlistedDomain[]> {
    return this.repository.list(organizationId);
  }

  /** @throws ApiError NOT_FOUND */
  async get({ organizationId }: DashboardActor, id: string): Promise<AllowlistedDomain> {
    const domain = isUUID(id) ? await this.repository.find(organizationId, id) : null;
    if (!domain) throw ALLOWLISTED_DOMAIN_NOT_FOUND.error();
    return domain;
  }

  @Transactional()
  async add(actor: DashboardActor, written: string): Promise<void> {
    const { organizationId } = actor;
    if ((await this.repository.lockAndCount(organizationId)) >= MAX_DOMAINS)
      throw INVALID_FIELD.error(TOO_MANY_DOMAINS);
    const domain: AllowlistedDomain = {
      id: randomUUID(),
      organizationId,
      domain: domainName(written) ?? '',
      createdAt: this.clock.now(),
      provedAt: null,
      proofCheckedAt: null,
      proofMissingSince: null,
    };
    if (!(await this.repository.add(domain))) throw INVALID_FIELD.error(DOMAIN_TAKEN);
    await this.auditLog.record({ action: 'domain.add', actor, target: { name: domain.domain } });
  }

  @Transactional()
  async remove(actor: DashboardActor, id: string): Promise<void> {
    const removed = isUUID(id) ? await this.repository.remove(actor.organizationId, id) : null;
    if (!removed) throw ALLOWLISTED_DOMAIN_NOT_FOUND.error();
    await this.auditLog.record({ action: 'domain.remove', actor, target: { name: removed.domain } });
  }

  /** Returns whether a user with this email may be invited. */
  async allow(organizationId: string, email: string): Promise<boolean> {
    const domains = await this.repository.list(organizationId);
    const own = domainOf(email);
    return domains.length === 0 || domains.some(({ domain }) => domain === own);
  }

  /** Returns the organization that has proved the domain of an email address. */
  async organizationOf(email: string): Promise<string | undefined> {
    const domain = domainOf(email);
    const proved = domain === undefined ? null : await this.repository.findProved(domain);
    return proved?.organizationId;
  }
}
