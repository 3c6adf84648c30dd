import { Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock, DAY, HOUR, SECOND } from '../../infrastructure/time/index.js';
import { AuditLog, SYSTEM } from '../audit-logs/index.js';
import type { AllowlistedDomain } from './allowlisted-domain.entity.js';
import type { AllowlistedDomainResponse } from './allowlisted-domains.dto.js';
import { proofRecord } from './allowlisted-domains.dto.js';
import { AllowlistedDomainsRepository } from './allowlisted-domains.repository.js';
import { DomainProofsConfiguration } from './domain-proofs.configuration.js';

/** The label in front of the domain that has the record (RFC 8552: an underscored name). */
export const PROOF_LABEL = '_merchant-connectivity';
/** Milliseconds for which the record of a proved domain may be missing. */
export const PROOF_GRACE = 3 * DAY;
const CHECK_INTERVAL = 23 * HOUR;

const PROVED_BY_ANOTHER =
  'Another organization has proved this domain. Its proof ends a few days after its record is removed.';
const MISSING =
  'The record was not found, or has other content. Check the name and the content, or try again later.';
const UNREACHABLE = 'The DNS servers of the domain did not respond. Try again later.';

/** Proves that domains belong to organizations, by a TXT record. */
@Injectable()
export class DomainProofsService {
  private readonly resolver = new Resolver({ timeout: 2 * SECOND, tries: 2 });

  constructor(
    private readonly repository: AllowlistedDomainsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
    { dnsServers }: DomainProofsConfiguration,
  ) {
    if (dnsServers !== undefined) this.resolver.setServers(dnsServers);
  }

  /** Proves a domain now. @throws ApiError INVALID_FIELD with the reason if the record is missing */
  async check(actor: DashboardActor, { id, domain }: AllowlistedDomainResponse): Promise<void> {
    const problem = await this.problemWith({ id, domain });
    if (problem !== undefined) throw INVALID_FIELD.error(problem);
    await this.prove(actor, id);
  }

  /** Returns domains whose last check was almost a day ago. */
  async due(limit: number): Promise<AllowlistedDomain[]> {
    return this.repository.toCheck(new Date(this.clock.milliseconds() - CHECK_INTERVAL), limit);
  }

  /** Checks a proved domain again. The proof ends after several days without a successful check. */
  async checkAgain(domain: AllowlistedDomain): Promise<void> {
    const isProved = (await this.problemWith(domain)) === undefined;
    await this.noteCheck(domain, isProved);
  }

  @Transactional()
  private async prove(actor: DashboardActor, id: string): Promise<void> {
    const domain = await this.repository.find(actor.organizationId, id);
    if (!domain) return;
    const now = this.clock.now();
    const changes = { provedAt: domain.provedAt ?? now, proofCheckedAt: now, proofMissingSince: null };
    if (!(await this.repository.change(id, changes))) throw INVALID_FIELD.error(PROVED_BY_ANOTHER);
    if (!domain.provedAt)
      await this.auditLog.record({ action: 'domain.prove', actor, target: { name: domain.domain } });
  }

  @Transactional()
  private async noteCheck(domain: AllowlistedDomain, isProved: boolean): Promise<void> {
    const { id, organizationId, domain: name } = domain;
    const now = this.clock.now();
    const missingSince = isProved ? null : (domain.proofMissingSince ?? now);
    const isLost = missingSince !== null && now.getTime() - missingSince.getTime() >= PROOF_GRACE;
    await this.repository.change(id, {
      proofCheckedAt: now,
      proofMissingSince: isLost ? null : missingSince,
      ...(isLost && { provedAt: null }),
    });
    if (!isLost) return;
    const actor = { organizationId, ...SYSTEM };
    await this.auditLog.record({ action: 'domain.lose_proof', actor, target: { name } });
  }

  /** Returns why the record does not prove the domain; undefined if it does. */
  private async problemWith({
    id,
    domain,
  }: Pick<AllowlistedDomain, 'id' | 'domain'>): Promise<string | undefined> {
    try {
      const records = await this.resolver.resolveTxt(`${PROOF_LABEL}.${domain}`);
      return records.some((chunks) => chunks.join('') === proofRecord(id)) ? undefined : MISSING;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      return code === 'ENOTFOUND' || code === 'ENODATA' ? MISSING : UNREACHABLE;
    }
  }
}
