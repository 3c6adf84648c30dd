import { randomUUID } from 'node:crypto';
import {
  CHAIN_START,
  nextSequence,
  hashEntry,
  type ChainLink,
} from '../../../src/modules/audit-logs/audit-chain.js';
import type { AuditAction } from '../../../src/infrastructure/audit-catalog/index.js';
import type { AuditOutcome } from '../../../src/modules/audit-logs/index.js';
import type { TestDatabase } from '../database/database.js';

/** The values of the columns of an entry. */
export interface AuditRow extends ChainLink {
  readonly organizationId: string;
  readonly id: string;
  readonly createdAt: Date;
  readonly action: AuditAction;
  readonly outcome: AuditOutcome;
  readonly actorName: string;
  readonly actorEmail: string;
  readonly targetType: string;
  readonly targetName: string | null;
  readonly targetEnvironment: 'development' | 'production';
  readonly contextIp: string;
  readonly contextUserAgent: string;
  readonly changes: AuditChange[] | null;
}

type AuditChange = NonNullable<Parameters<typeof hashEntry>[0]['changes']>[number];

export type AuditRowChange = Partial<Omit<AuditRow, 'hash'>>;

/** Adds an organization without any other data. */
export async function addOrganization(database: TestDatabase): Promise<string> {
  const id = randomUUID();
  await database.query(`INSERT INTO organization (id, name, created_at) VALUES ($1, 'Bare', now())`, [id]);
  return id;
}

/** Writes a whole chain into an empty log, one entry per second. */
export async function fillAuditLog(
  database: TestDatabase,
  organizationId: string,
  changes: readonly AuditRowChange[],
): Promise<AuditRow[]> {
  const entries = chainOf(organizationId, changes);
  await insertEntries(database, entries);
  const last = entries.at(-1);
  await database.query(
    'INSERT INTO audit_chain (organization_id, sequence, created_at, hash) VALUES ($1, $2, $3, $4)',
    [organizationId, last?.sequence, last?.createdAt, last?.hash],
  );
  return entries;
}

/** Returns entries with valid hashes. */
export function chainOf(organizationId: string, changes: readonly AuditRowChange[]): AuditRow[] {
  let last: ChainLink = CHAIN_START;
  return changes.map((change, index) => {
    const entry = {
      organizationId,
      sequence: nextSequence(last),
      id: randomUUID(),
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, index)),
      action: 'user.add' as const,
      outcome: 'success' as const,
      actorName: 'Ada Lovelace',
      actorEmail: 'ada@example.com',
      targetType: 'user',
      targetName: `user-${index + 1}@example.com`,
      targetEnvironment: 'production' as const,
      contextIp: '203.0.113.7',
      contextUserAgent: 'Firefox',
      changes: null,
      ...change,
    };
    const hashed = { ...entry, hash: hashEntry(nested(entry), last) };
    last = hashed;
    return hashed;
  });
}

function nested(row: Omit<AuditRow, 'hash'>): Parameters<typeof hashEntry>[0] {
  return {
    organizationId: row.organizationId,
    sequence: row.sequence,
    id: row.id,
    datetime: row.createdAt,
    event: { action: row.action, outcome: { status: row.outcome } },
    actor: { name: row.actorName, email: row.actorEmail },
    target: { type: row.targetType, name: row.targetName, environment: row.targetEnvironment },
    context: { ip: row.contextIp, user_agent: row.contextUserAgent },
    changes: row.changes,
  };
}

export async function insertEntries(database: TestDatabase, entries: readonly AuditRow[]): Promise<void> {
  const names = Object.keys(entries[0] ?? {}) as (keyof AuditRow)[];
  const columns = names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const rows = entries.map(
    (_, row) => `(${names.map((_name, column) => `$${row * names.length + column + 1}`).join(', ')})`,
  );
  await database.query(
    `INSERT INTO audit_log (${columns.join(', ')}) VALUES ${rows.join(', ')}`,
    entries.flatMap((entry) =>
      names.map((name) =>
        name === 'changes' && entry.changes ? JSON.stringify(entry.changes) : entry[name],
      ),
    ),
  );
}
