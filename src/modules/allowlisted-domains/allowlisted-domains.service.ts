import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardCaller } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog } from '../audit-logs/index.js';
import type { AllowlistedDomain } from './allowlisted-domain.entity.js';
import {
  ALLOWLISTED_DOMAIN_NOT_FOUND,
  DOMAIN_TAKEN,
  MOST_DOMAINS,
  TOO_MANY_DOMAINS,
} from './allowlisted-domain-errors.js';
import type { AllowlistedDomainResponse } from './allowlisted-domains.dto.js';
import { AllowlistedDomainsRepository } from './allowlisted-domains.repository.js';
import { domainName } from './domain-name.js';

/** The domains that an organization invites people from. Without any, people of every domain may be invited. */
@Injectable()
export class AllowlistedDomains {
  constructor(
    private readonly repository: AllowlistedDomainsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(organizationId: string): Promise<AllowlistedDomainResponse[]> {
    return (await this.repository.ofOrganization(organizationId)).map(inWordsOfTheApi);
  }

  @Transactional()
  async add(caller: DashboardCaller, written: string): Promise<AllowlistedDomainResponse> {
    const { organizationId } = caller;
    if ((await this.repository.lockAndCount(organizationId)) >= MOST_DOMAINS)
      throw INVALID_FIELD.error(TOO_MANY_DOMAINS);
    const domain: AllowlistedDomain = {
      id: randomUUID(),
      organizationId,
      domain: domainName(written) ?? '',
      createdAt: this.clock.now(),
    };
    if (!(await this.repository.add(domain))) throw INVALID_FIELD.error(DOMAIN_TAKEN);
    await this.auditLog.record({ action: 'domain.add', by: caller, target: { name: domain.domain } });
    return inWordsOfTheApi(domain);
  }

  @Transactional()
  async remove(caller: DashboardCaller, id: string): Promise<AllowlistedDomainResponse> {
    const removed = isUUID(id) ? await this.repository.remove(caller.organizationId, id) : undefined;
    if (!removed) throw ALLOWLISTED_DOMAIN_NOT_FOUND.error();
    await this.auditLog.record({ action: 'domain.remove', by: caller, target: { name: removed.domain } });
    return inWordsOfTheApi(removed);
  }

  /** Whether a person with this e-mail address may be invited. */
  async allow(organizationId: string, email: string): Promise<boolean> {
    const domains = await this.repository.ofOrganization(organizationId);
    const own = domainName(email.slice(email.lastIndexOf('@') + 1));
    return domains.length === 0 || domains.some(({ domain }) => domain === own);
  }
}

function inWordsOfTheApi({ id, domain, createdAt }: AllowlistedDomain): AllowlistedDomainResponse {
  return { id, domain, created_at: createdAt };
}
