import { Resolver } from 'node:dns/promises';
import { Injectable, Logger } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transaction, Transactional, unlessDuplicate } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock, DAY, SECOND } from '../../infrastructure/time/index.js';
import { printableText } from '../../infrastructure/logging/index.js';
import { firstCharacters } from '../../infrastructure/validation/index.js';
import { AuditLog, SYSTEM } from '../audit-logs/index.js';
import { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { proofRecord } from './allowlisted-domains.dto.js';
import { DomainLogins } from './domain-logins.js';
import { DomainProofsConfiguration } from './domain-proofs.configuration.js';

/** The label in front of the domain that has the record (RFC 8552: an underscored name). */
export const PROOF_LABEL = '_merchant-connectivity';
/** Milliseconds for which the record of a proved domain may be missing. */
export const PROOF_GRACE = 3 * DAY;

const PROVED_BY_ANOTHER =
  'Another organization has proved this domain. Its proof ends a few days after its record is removed.';
/** Characters of a record, and how many records, that are shown. */
const MAX_SHOWN_LENGTH = 100;
const MAX_SHOWN = 3;
const SERVERS = 'The DNS servers of the domain did not respond';
/** The error of a failed lookup, which says nothing about the record. */
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
  private readonly resolver = new Resolver({ timeout: 2 * SECOND, tries: 2 });

  constructor(
    private readonly transaction: Transaction,
    private readonly logins: DomainLogins,
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

  /**
   * Checks a proved domain again. The proof ends when the record has been missing for several days. A lookup that fails says
   * nothing about the record, so it changes nothing: it is repeated after an hour, and the check is overdue after a day.
   */
  async checkAgain(id: string): Promise<void> {
    const where = { id, provedAt: Not(IsNull()) };
    const found = await this.transaction.manager.findOneBy(AllowlistedDomain, where);
    if (!found) return;
    const { state, problem } = await this.lookUp(found);
    const { domain } = found;
    if (state !== 'proved')
      this.logger.warn('A check did not prove a domain', { domain, state, reason: problem });
    if (state !== 'unknown') await this.noteCheck(id, state);
  }

  @Transactional()
  private async prove(actor: DashboardActor, id: string): Promise<void> {
    const { organizationId } = actor;
    // The domain may have been removed during the lookup.
    const domain = await this.transaction.lockRow(AllowlistedDomain, { organizationId, id });
    if (!domain) return;
    const now = this.clock.now();
    const changes = { provedAt: domain.provedAt ?? now, proofCheckedAt: now, proofMissingSince: null };
    if (!(await this.change(id, changes))) throw INVALID_FIELD.error(PROVED_BY_ANOTHER);
    if (!domain.provedAt)
      await this.auditLog.record({ action: 'domain.prove', actor, target: { name: domain.domain } });
  }

  @Transactional()
  private async noteCheck(id: string, state: 'proved' | 'missing'): Promise<void> {
    // Read again: the domain may have been removed or proved during the lookup.
    const domain = await this.transaction.lockRow(AllowlistedDomain, { id });
    if (!domain?.provedAt) return;
    const { organizationId, domain: name } = domain;
    const now = this.clock.now();
    const missingSince = state === 'proved' ? null : (domain.proofMissingSince ?? now);
    const endsAt = missingSince && new Date(missingSince.getTime() + PROOF_GRACE);
    const isLost = endsAt !== null && endsAt <= now;
    await this.change(id, {
      proofCheckedAt: now,
      proofMissingSince: isLost ? null : missingSince,
      ...(isLost && { provedAt: null }),
    });
    if (missingSince && endsAt && !isLost)
      await this.logins.announceMissing({ id, organizationId, domain: name, since: missingSince, endsAt });
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
    const name = `${PROOF_LABEL}.${domain}`;
    const record = proofRecord(id);
    try {
      const found = await this.textsAt(name);
      if (found.includes(record)) return { state: 'proved' };
      if (found.length > 0) return { state: 'missing', problem: otherContent(name, record, found) };
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const other = `The record could not be looked up (${code}). Try again later.`;
      return { state: 'unknown', problem: LOOKUP_FAILURES[code] ?? other };
    }
    const isAt = async (place: string) =>
      (await this.textsAt(place).catch((): string[] => [])).includes(record);
    if (await isAt(`${name}.${domain}`))
      return {
        state: 'missing',
        problem: `The record is at ${name}.${domain}: your DNS provider adds the domain to the name. Enter only ${PROOF_LABEL} as the name.`,
      };
    const elsewhere = (await isAt(domain)) ? ` The record is at ${domain}, which is another name.` : '';
    return {
      state: 'missing',
      problem: `There is no TXT record with the name ${name}.${elsewhere} Check the name, or try again later: a new record can take an hour to appear.`,
    };
  }

  /** Returns the texts of the TXT records with this name. @throws if the lookup failed, so that nothing is known about the record */
  private async textsAt(name: string): Promise<string[]> {
    const records = await this.resolver.resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
      // NXDOMAIN and NODATA.
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return [];
      throw error;
    });
    // Some pages for DNS records store white space and quotes that were pasted.
    return records.map((chunks) =>
      chunks
        .join('')
        .trim()
        .replace(/^"(.*)"$/s, '$1')
        .trim(),
    );
  }
}

/** Names what was found: a record of another domain or organization, a part of the record, or a text of another program. */
function otherContent(name: string, record: string, found: readonly string[]): string {
  const shown = found
    .slice(0, MAX_SHOWN)
    .map((text) => `“${firstCharacters(printableText(text), MAX_SHOWN_LENGTH)}”`);
  return `The TXT record with the name ${name} has other content: ${shown.join(', ')}. Its content must be “${record}”.`;
}
