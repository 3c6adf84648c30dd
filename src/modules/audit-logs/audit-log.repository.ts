import { Injectable } from '@nestjs/common';
import type { SelectQueryBuilder } from 'typeorm';
import { continued, longLists, Transaction } from '../../infrastructure/database/index.js';
import { KeyedQueue } from '../../infrastructure/queues/index.js';
import type { Period } from '../../infrastructure/time/index.js';
import { CHAIN_START } from './audit-chain.js';
import { AuditChainHead, AuditLogEntry } from './audit-log-entry.entity.js';
import type { SearchAuditLogsQuery } from './audit-logs.dto.js';

export type AuditLogFilters = Pick<SearchAuditLogsQuery, 'actor' | 'target' | 'action' | 'outcome'>;
export type Position = Pick<AuditLogEntry, 'datetime' | 'sequence'>;

/** Reading and hashing a batch takes a few milliseconds, in which the process does nothing else. */
const BATCH = 250;
/** Entries in a histogram. Reading them takes about as long as searching as many. */
const MAX_COUNTED = 10_000;

@Injectable()
export class AuditLogRepository {
  /** However many exports and verifications of an organization run, they read one batch at a time. */
  private readonly batches = new KeyedQueue(1);

  constructor(private readonly transaction: Transaction) {}

  /** Returns the head of the organization's chain, and locks it until the transaction ends. */
  async lockHead(organizationId: string, now: Date): Promise<AuditChainHead> {
    const { manager } = this.transaction;
    const first = { organizationId, createdAt: now, ...CHAIN_START };
    await manager.createQueryBuilder().insert().into(AuditChainHead).values(first).orIgnore().execute();
    return manager.findOneOrFail(AuditChainHead, {
      where: { organizationId },
      lock: { mode: 'pessimistic_write' },
    });
  }

  async append(entry: AuditLogEntry): Promise<void> {
    const { organizationId, sequence, datetime, hash } = entry;
    await this.transaction.manager.insert(AuditLogEntry, entry);
    await this.transaction.manager.update(
      AuditChainHead,
      { organizationId },
      { sequence, createdAt: datetime, hash },
    );
  }

  /**
   * Returns the newest entries of the period before the position.
   *
   * The position replaces the end of the period. If the statement had both, PostgreSQL would start at the end and read
   * all entries down to the position: at depth 300,000 of 10 million rows, 43 ms instead of 0.4.
   */
  async newest(
    organizationId: string,
    { start, end }: Period,
    before: Position | undefined,
    size: number,
  ): Promise<AuditLogEntry[]> {
    const found = this.entriesOf(organizationId)
      .orderBy({ 'entry.datetime': 'DESC', 'entry.sequence': 'DESC' })
      .limit(size);
    if (start) found.andWhere('entry.datetime >= :start', { start });
    if (before)
      found.andWhere('(entry.datetime, entry.sequence) < (:datetime, :sequence)', positionOf(before));
    else if (end) found.andWhere('entry.datetime <= :end', { end });
    return longLists.run(organizationId, () => found.getMany());
  }

  /**
   * Returns the newest entries that match the filter, from the sequence `from` up to but not including `below`. There is no
   * index for the filter, so the caller limits how many entries are searched.
   */
  async matching(
    organizationId: string,
    { actor, target, action, outcome }: AuditLogFilters,
    { from, below }: { readonly from: string; readonly below: string },
    size: number,
  ): Promise<AuditLogEntry[]> {
    const found = this.entriesOf(organizationId)
      .andWhere('entry.sequence >= :from AND entry.sequence < :below', { from, below })
      .orderBy('entry.sequence', 'DESC')
      .limit(size);
    if (actor !== undefined)
      found.andWhere(
        '(strpos(lower(entry.actor.name), lower(:actor)) > 0 OR strpos(lower(entry.actor.email), lower(:actor)) > 0)',
        { actor },
      );
    // What users did to their own accounts is not about a target: the list shows none.
    if (target !== undefined)
      found
        .andWhere('strpos(lower(entry.target.name), lower(:target)) > 0', { target })
        .andWhere(`NOT (entry.event.action LIKE 'auth.%' AND entry.target.name = entry.actor.email)`);
    if (action !== undefined) found.andWhere('entry.event.action = :action', { action });
    if (outcome !== undefined) found.andWhere('entry.event.outcome.status = :outcome', { outcome });
    return longLists.run(organizationId, () => found.getMany());
  }

  /** Counts the newest entries of a period, at most `MAX_COUNTED`, by the number of the step in which they happened. */
  async counts(
    organizationId: string,
    { start, end }: Required<Period>,
    step: number,
  ): Promise<ReadonlyMap<number, Readonly<Record<'succeeded' | 'failed', number>>>> {
    const rows = await longLists.run(organizationId, () =>
      this.transaction.manager.query<{ step: number; total: number; succeeded: number }[]>(
        `SELECT floor(extract(epoch FROM created_at - $2) * 1000 / $4)::int AS step,
                count(*)::int AS total, (count(*) FILTER (WHERE outcome = 'success'))::int AS succeeded
           FROM (SELECT created_at, outcome FROM audit_log
                  WHERE organization_id = $1 AND created_at >= $2 AND created_at <= $3
                  ORDER BY created_at DESC, sequence DESC LIMIT ${MAX_COUNTED}) entry
          GROUP BY 1`,
        [organizationId, start, end, step],
      ),
    );
    return new Map(
      rows.map(({ step: number, total, succeeded }) => [number, { succeeded, failed: total - succeeded }]),
    );
  }

  async find(
    organizationId: string,
    key: Partial<Pick<AuditLogEntry, 'id' | 'sequence'>>,
  ): Promise<AuditLogEntry | null> {
    return this.transaction.manager.findOneBy(AuditLogEntry, { organizationId, ...key });
  }

  /** Returns all entries of the period, oldest first, reading them in batches. The position replaces the start. */
  inOrderOfTime(organizationId: string, { start, end }: Period): AsyncGenerator<AuditLogEntry> {
    return this.inBatches(organizationId, (last) => {
      const next = this.entriesOf(organizationId).orderBy({
        'entry.datetime': 'ASC',
        'entry.sequence': 'ASC',
      });
      if (last) next.andWhere('(entry.datetime, entry.sequence) > (:datetime, :sequence)', positionOf(last));
      else if (start) next.andWhere('entry.datetime >= :start', { start });
      return end ? next.andWhere('entry.datetime <= :end', { end }) : next;
    });
  }

  /**
   * Returns all entries in the order of the chain, reading them in batches.
   *
   * @param after if given, only the entries after this sequence; otherwise also any that were forged before the first one
   */
  inOrderOfChain(organizationId: string, after?: string): AsyncGenerator<AuditLogEntry> {
    return this.inBatches(organizationId, (last) => {
      const next = this.entriesOf(organizationId).orderBy('entry.sequence');
      const sequence = last?.sequence ?? after;
      return sequence === undefined ? next : next.andWhere('entry.sequence > :sequence', { sequence });
    });
  }

  async following(organizationId: string, sequence: string, limit: number): Promise<AuditLogEntry[]> {
    const next = this.entriesOf(organizationId).andWhere('entry.sequence > :sequence', { sequence });
    return next.orderBy('entry.sequence').limit(limit).getMany();
  }

  async head(organizationId: string): Promise<AuditChainHead | null> {
    return this.transaction.manager.findOneBy(AuditChainHead, { organizationId });
  }

  /** Returns the organizations that have entries or a head: an attacker may have removed one and not the other. */
  async organizationIds(): Promise<string[]> {
    // A loose index scan: it jumps from one organization to the next, without reading all entries.
    const rows = await this.transaction.manager.query<{ id: string }[]>(
      `WITH RECURSIVE with_entries (id) AS (
         (SELECT organization_id FROM audit_log ORDER BY organization_id LIMIT 1)
         UNION ALL
         SELECT (SELECT organization_id FROM audit_log WHERE organization_id > with_entries.id
                  ORDER BY organization_id LIMIT 1)
           FROM with_entries WHERE with_entries.id IS NOT NULL
       )
       SELECT id FROM with_entries WHERE id IS NOT NULL UNION SELECT organization_id FROM audit_chain
        ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  }

  /** @param after returns the query of the entries after the last one of the previous batch */
  private async *inBatches(
    organizationId: string,
    after: (last: AuditLogEntry | undefined) => SelectQueryBuilder<AuditLogEntry>,
  ): AsyncGenerator<AuditLogEntry> {
    let batch: AuditLogEntry[];
    let last: AuditLogEntry | undefined;
    do {
      const read = (): Promise<AuditLogEntry[]> =>
        this.batches.run(organizationId, () => after(last).limit(BATCH).getMany(), last !== undefined);
      // A transaction has ended with its first failure.
      batch = await (last && !this.transaction.isOpen ? continued(read) : read());
      yield* batch;
      last = batch.at(-1);
    } while (batch.length === BATCH);
  }

  private entriesOf(organizationId: string): SelectQueryBuilder<AuditLogEntry> {
    return this.transaction.manager
      .createQueryBuilder(AuditLogEntry, 'entry')
      .where('entry.organizationId = :organizationId', { organizationId });
  }
}

function positionOf({ datetime, sequence }: Position): Position {
  return { datetime, sequence };
}
