import { randomUUID } from 'node:crypto';
import {
  CHAIN_START,
  nextSequence,
  hashEntry,
  type ChainLink,
  type UnhashedEntry,
} from '../../src/modules/audit-logs/audit-chain.js';
import type { AuditLogEntry } from '../../src/modules/audit-logs/audit-log-entry.entity.js';
import type { TestDatabase } from './database.js';

const COLUMNS: Readonly<Record<keyof AuditLogEntry, string>> = {
  organizationId: 'organization_id',
  sequence: 'sequence',
  id: 'id',
  createdAt: 'created_at',
  action: 'action',
  outcome: 'outcome',
  actorName: 'actor_name',
  actorEmail: 'actor_email',
  targetType: 'target_type',
  targetName: 'target_name',
  targetEnvironment: 'target_environment',
  contextIp: 'context_ip',
  contextUserAgent: 'context_user_agent',
  hash: 'hash',
};

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
  changes: readonly Partial<UnhashedEntry>[],
): Promise<AuditLogEntry[]> {
  const entries = chainOf(organizationId, changes);
  for (const entry of entries) await insertEntry(database, entry);
  const last = entries.at(-1);
  await database.query(
    'INSERT INTO audit_chain (organization_id, sequence, created_at, hash) VALUES ($1, $2, $3, $4)',
    [organizationId, last?.sequence, last?.createdAt, last?.hash],
  );
  return entries;
}

/** Returns entries with valid hashes. */
export function chainOf(organizationId: string, changes: readonly Partial<UnhashedEntry>[]): AuditLogEntry[] {
  let last: ChainLink = CHAIN_START;
  return changes.map((change, index) => {
    const entry: UnhashedEntry = {
      organizationId,
      sequence: nextSequence(last),
      id: randomUUID(),
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, index)),
      action: 'user.add',
      outcome: 'success',
      actorName: 'Ada Lovelace',
      actorEmail: 'ada@example.com',
      targetType: 'user',
      targetName: `user-${index + 1}@example.com`,
      targetEnvironment: 'production',
      contextIp: '203.0.113.7',
      contextUserAgent: 'Firefox',
      ...change,
    };
    const hashed = { ...entry, hash: hashEntry(entry, last) };
    last = hashed;
    return hashed;
  });
}

export async function insertEntry(database: TestDatabase, entry: AuditLogEntry): Promise<void> {
  const names = Object.keys(COLUMNS) as (keyof AuditLogEntry)[];
  await database.query(
    `INSERT INTO audit_log (${names.map((name) => COLUMNS[name]).join(', ')})
     VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    names.map((name) => entry[name]),
  );
}
