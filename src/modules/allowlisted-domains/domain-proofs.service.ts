import { Resolver } from 'node:dns/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { IsNull, LessThan, Not } from 'typeorm';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import {
  JobLock,
  KeyedQueue,
  Transaction,
  Transactional,
  unlessDuplicate,
} from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock, DAY, HOUR, hourlyAt, SECOND } from '../../infrastructure/time/index.js';
import {
  Configuration,
  EnvironmentVariable,
  isDnsServerList,
  Satisfies,
} from '../../infrastructure/config/index.js';
import { AuditLog, SYSTEM } from '../audit-logs/index.js';
import { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { proofRecord } from './allowlisted-domains.dto.js';

@Configuration('Proofs of domains')
class DomainProofsConfiguration {
  @EnvironmentVariable(
    'DOMAIN_PROOF_DNS_SERVERS',
    'DNS servers that are asked for the records that prove domains, as `address` or `address:port`, separated by commas. Default: the servers of the system.',
  )
  @Satisfies(isDnsServerList, 'dnsServers must be a list of addresses such as 10.0.0.2 or 10.0.0.2:53')
  dnsServers?: string[];
}

/** The label in front of the domain that has the record (RFC 8552: an underscored name). */
export const PROOF_LABEL = '_merchant-connectivity';
/** Milliseconds for which the record of a proved domain may be missing. */
export const PROOF_GRACE = 3 * DAY;
const CHECK_INTERVAL = 23 * HOUR;
const DOMAINS_PER_RUN = 1_000;
/** DNS servers that do not respond must not delay the checks of other domains for hours. */
const CONCURRENT_CHECKS = 20;

const PROVED_BY_ANOTHER =
  'Another organization has proved this domain. Its proof ends a few days after its record is removed.';
const MISSING =
  'The record was not found, or has other content. Check the name and the content, or try again later.';
const SERVERS = 'The DNS servers of the domain did not respond';
/** What a lookup that failed says, which is nothing about the record. */
const LOOKUP_FAILURES: Readonly<Record<string, string>> = {
  ESERVFAIL: `${SERVERS} with the record, but with a failure (SERVFAIL). Check the name servers of the domain, or try again later.`,
  EREFUSED: `${SERVERS} with the record, but refused the query (REFUSED). Check the name servers of the domain, or try again later.`,
  ETIMEOUT: `${SERVERS} in time. Try again later.`,
  ECONNREFUSED: 'The service cannot reach its own DNS server. Try again later.',
};

/** `unknown`: the lookup failed, so that nothing is known about the record. */
type ProofState = 'proved' | 'missing' | 'unknown';

interface Lookup {
  readonly state: ProofState;
  /** Why the record does not prove the domain; undefined if it does. */
  readonly problem?: string;
}

/** Proves that domains belong to organizations, by a TXT record. */
@Injectable()
export class DomainProofsService {
  private readonly logger = new Logger('Domains');
  private readonly checks = new KeyedQueue(CONCURRENT_CHECKS);
  private readonly resolver = new Resolver({ timeout: 2 * SECOND, tries: 2 });

  constructor(
    private readonly transaction: Transaction,
    private readonly lock: JobLock,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
    { dnsServers }: DomainProofsConfiguration,
  ) {
    if (dnsServers !== undefined) this.resolver.setServers(dnsServers);
  }

  /** Proves a domain now. @throws ApiError INVALID_FIELD with the reason if the record is missing */
  async check(actor: DashboardActor, { id, domain }: AllowlistedDomain): Promise<void> {
    const { problem } = await this.lookUp({ id, domain });
    if (problem !== undefined) throw INVALID_FIELD.error(problem);
    await this.prove(actor, id);
  }

  /** Checks the proof of each domain once a day: first those whose last check is the longest ago. */
  @Cron(hourlyAt(15))
  async checkDue(): Promise<void> {
    await this.lock.runExclusively('domain-proofs', async () => {
      const checkedBefore = new Date(this.clock.milliseconds() - CHECK_INTERVAL);
      const domains = await this.transaction.manager.find(AllowlistedDomain, {
        where: { provedAt: Not(IsNull()), proofCheckedAt: LessThan(checkedBefore) },
        order: { proofCheckedAt: 'ASC' },
        take: DOMAINS_PER_RUN,
      });
      await Promise.all(domains.map((domain) => this.checks.run('domains', () => this.checkAgain(domain))));
    });
  }

  /**
   * Checks a proved domain again. The proof ends when the record has been missing for several days. A lookup that fails says
   * nothing about the record, so it changes nothing.
   */
  private async checkAgain(domain: AllowlistedDomain): Promise<void> {
    try {
      const { state, problem } = await this.lookUp(domain);
      if (state !== 'proved')
        this.logger.warn('A check did not prove a domain', { domain: domain.domain, state, reason: problem });
      await this.noteCheck(domain, state);
    } catch (error) {
      this.logger.error('The proof of a domain could not be checked', error);
    }
  }

  @Transactional()
  private async prove(actor: DashboardActor, id: string): Promise<void> {
    const { organizationId } = actor;
    const domain = await this.transaction.manager.findOneBy(AllowlistedDomain, { organizationId, id });
    if (!domain) return;
    const now = this.clock.now();
    const changes = { provedAt: domain.provedAt ?? now, proofCheckedAt: now, proofMissingSince: null };
    if (!(await this.change(id, changes))) throw INVALID_FIELD.error(PROVED_BY_ANOTHER);
    if (!domain.provedAt)
      await this.auditLog.record({ action: 'domain.prove', actor, target: { name: domain.domain } });
  }

  @Transactional()
  private async noteCheck(domain: AllowlistedDomain, state: ProofState): Promise<void> {
    const { id, organizationId, domain: name } = domain;
    const now = this.clock.now();
    if (state === 'unknown') {
      await this.change(id, { proofCheckedAt: now });
      return;
    }
    const missingSince = state === 'proved' ? null : (domain.proofMissingSince ?? now);
    const isLost = missingSince !== null && now.getTime() - missingSince.getTime() >= PROOF_GRACE;
    await this.change(id, {
      proofCheckedAt: now,
      proofMissingSince: isLost ? null : missingSince,
      ...(isLost && { provedAt: null }),
    });
    if (!isLost) return;
    const actor = { organizationId, ...SYSTEM };
    await this.auditLog.record({ action: 'domain.lose_proof', actor, target: { name } });
  }

  /** @returns false if another organization has proved the domain */
  private change(id: string, changes: Partial<AllowlistedDomain>): Promise<boolean> {
    return unlessDuplicate(
      () => this.transaction.manager.update(AllowlistedDomain, { id }, changes),
      'allowlisted_domain_proved_key',
    );
  }

  private async lookUp({ id, domain }: Pick<AllowlistedDomain, 'id' | 'domain'>): Promise<Lookup> {
    const [name, record] = [`${PROOF_LABEL}.${domain}`, proofRecord(id)];
    try {
      if (await this.isAt(name, record)) return { state: 'proved' };
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const other = `The record could not be looked up (${code}). Try again later.`;
      return { state: 'unknown', problem: LOOKUP_FAILURES[code] ?? other };
    }
    const isDoubled = await this.isAt(`${name}.${domain}`, record).catch(() => false);
    const doubled = `The record is at ${name}.${domain}: your DNS provider adds the domain to the name. Enter only ${PROOF_LABEL} as the name.`;
    return { state: 'missing', problem: isDoubled ? doubled : MISSING };
  }

  /** @throws if the lookup failed, so that nothing is known about the record */
  private async isAt(name: string, record: string): Promise<boolean> {
    const records = await this.resolver.resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
      // NXDOMAIN and NODATA.
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return [];
      throw error;
    });
    // Some pages for DNS records store white space and quotes that were pasted.
    return records.some((chunks) => [record, `"${record}"`].includes(chunks.join('').trim()));
  }
}
