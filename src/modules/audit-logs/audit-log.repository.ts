import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import type { Period } from '../../infrastructure/time/index.js';
import type { AuditChainHead } from './audit-chain-head.entity.js';
import { CHAIN_START, HASHED_FIELDS } from './audit-chain.js';
import type { AuditAction, AuditOutcome } from './audit-actions.js';
import type { AuditLogEntry } from './audit-log-entry.entity.js';

/** The position of an entry in the order of time. */
export type Position = Pick<AuditLogEntry, 'createdAt' | 'sequence'>;

/** Conditions, all of which an entry must meet. */
export interface AuditLogFilter {
  /** A part of the actor's name or email address, in any case. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly outcome?: AuditOutcome | undefined;
}

/** The conditions of a filter, whose values are the parameters from $5. */
const MATCHES = `($5::text IS NULL OR strpos(lower(actor_name), lower($5)) > 0 OR strpos(lower(actor_email), lower($5)) > 0)
  AND ($6::text IS NULL OR action = $6) AND ($7::text IS NULL OR outcome = $7)`;

const ENTRY = `organization_id AS "organizationId", sequence, id, created_at AS "createdAt", action, outcome,
  actor_name AS "actorName", actor_email AS "actorEmail", target_type AS "targetType",
  target_name AS "targetName", target_environment AS "targetEnvironment", context_ip AS "contextIp",
  context_user_agent AS "contextUserAgent", hash`;
const HEAD = `organization_id AS "organizationId", sequence, created_at AS "createdAt", hash`;

/** The largest bigint: as a position, it comes after all entries of the same time. */
const MAX_SEQUENCE = '9223372036854775807';
const BATCH = 1_000;

@Injectable()
export class AuditLogRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns the head of the organization's chain, and locks it until the transaction ends. */
  async lockHead(organizationId: string, now: Date): Promise<AuditChainHead> {
    await this.query(
      `INSERT INTO audit_chain (organization_id, sequence, created_at, hash) VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING`,
      [organizationId, CHAIN_START.sequence, now, CHAIN_START.hash],
    );
    const [head] = await this.query<AuditChainHead>(
      `SELECT ${HEAD} FROM audit_chain WHERE organization_id = $1 FOR UPDATE`,
      [organizationId],
    );
    return head as AuditChainHead;
  }

  /** Adds the entry, and makes it the head. */
  async append(entry: AuditLogEntry): Promise<void> {
    await this.query(
      `WITH entry AS (
         INSERT INTO audit_log (organization_id, sequence, id, created_at, action, outcome, actor_name, actor_email,
                                target_type, target_name, target_environment, context_ip, context_user_agent, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
       )
       UPDATE audit_chain SET sequence = $2, created_at = $4, hash = $14 WHERE organization_id = $1`,
      [...HASHED_FIELDS.map((field) => entry[field]), entry.hash],
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
    return this.query(
      `SELECT ${ENTRY} FROM audit_log
        WHERE organization_id = $1 AND created_at >= $2::timestamptz
          AND (created_at, sequence) < ($3::timestamptz, $4::bigint)
        ORDER BY created_at DESC, sequence DESC LIMIT $5`,
      [
        organizationId,
        start ?? '-infinity',
        before?.createdAt ?? end ?? 'infinity',
        before?.sequence ?? MAX_SEQUENCE,
        size,
      ],
    );
  }

  /**
   * Returns the newest entries that match the filter, from the sequence `from` up to but not including `below`. There is no
   * index for the filter, so the caller limits how many entries are searched.
   */
  async matching(
    organizationId: string,
    { actor, action, outcome }: AuditLogFilter,
    { from, below }: { readonly from: string; readonly below: string },
    size: number,
  ): Promise<AuditLogEntry[]> {
    return this.query(
      `SELECT ${ENTRY} FROM audit_log
        WHERE organization_id = $1 AND sequence >= $2 AND sequence < $3 AND ${MATCHES}
        ORDER BY sequence DESC LIMIT $4`,
      [organizationId, from, below, size, actor, action, outcome],
    );
  }

  /** Returns the entry with this ID. */
  async find(organizationId: string, id: string): Promise<AuditLogEntry | undefined> {
    const [entry] = await this.query<AuditLogEntry>(
      `SELECT ${ENTRY} FROM audit_log WHERE id = $2 AND organization_id = $1`,
      [organizationId, id],
    );
    return entry;
  }

  /** Returns the entry with this sequence. */
  async at(organizationId: string, sequence: string): Promise<AuditLogEntry | undefined> {
    const [entry] = await this.query<AuditLogEntry>(
      `SELECT ${ENTRY} FROM audit_log WHERE organization_id = $1 AND sequence = $2`,
      [organizationId, sequence],
    );
    return entry;
  }

  /** Returns all entries of the period, oldest first, reading them in batches. The position replaces the start. */
  async *inOrderOfTime(organizationId: string, { start, end }: Period): AsyncGenerator<AuditLogEntry> {
    let position: { createdAt: Date | string; sequence: string } | undefined = {
      createdAt: start ?? '-infinity',
      sequence: CHAIN_START.sequence,
    };
    while (position) {
      const batch: AuditLogEntry[] = await this.query(
        `SELECT ${ENTRY} FROM audit_log
          WHERE organization_id = $1 AND created_at <= $2::timestamptz
            AND (created_at, sequence) > ($3::timestamptz, $4::bigint)
          ORDER BY created_at, sequence LIMIT $5`,
        [organizationId, end ?? 'infinity', position.createdAt, position.sequence, BATCH],
      );
      yield* batch;
      position = batch.at(-1);
    }
  }

  /**
   * Returns all entries in the order of the chain, reading them in batches.
   *
   * @param after if given, only the entries after this sequence
   */
  async *inOrderOfChain(organizationId: string, after?: string): AsyncGenerator<AuditLogEntry> {
    // Starts below 0, to also find entries that were forged before the first one.
    let sequence: string | undefined = after ?? `-${MAX_SEQUENCE}`;
    while (sequence !== undefined) {
      const batch: AuditLogEntry[] = await this.query(
        `SELECT ${ENTRY} FROM audit_log WHERE organization_id = $1 AND sequence > $2
          ORDER BY sequence LIMIT $3`,
        [organizationId, sequence, BATCH],
      );
      yield* batch;
      sequence = batch.at(-1)?.sequence;
    }
  }

  async head(organizationId: string): Promise<AuditChainHead | undefined> {
    const [head] = await this.query<AuditChainHead>(
      `SELECT ${HEAD} FROM audit_chain WHERE organization_id = $1`,
      [organizationId],
    );
    return head;
  }

  /** Returns the organizations that have entries or a head: an attacker may have removed one and not the other. */
  async organizationIds(): Promise<string[]> {
    // A loose index scan: it jumps from one organization to the next, without reading all entries.
    const rows = await this.query<{ id: string }>(
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

  private query<Row>(statement: string, values: unknown[] = []): Promise<Row[]> {
    return this.transaction.manager.query<Row[]>(statement, values);
  }
}
