import { createHash } from 'node:crypto';
import type { AuditLogEntry } from './audit-log-entry.entity.js';

/** The fields of the API, as paths, in the order in which they are hashed and exported. */
export const AUDIT_LOG_COLUMNS = [
  'id',
  'datetime',
  'event.action',
  'event.outcome.status',
  'actor.name',
  'actor.email',
  'target.type',
  'target.name',
  'target.environment',
  'context.ip',
  'context.user_agent',
  'changes',
];

export type UnhashedEntry = Omit<AuditLogEntry, 'hash'>;

/** The part of an entry that the next entry is chained to. */
export type ChainLink = Pick<AuditLogEntry, 'sequence' | 'hash'>;

export const CHAIN_START: ChainLink = { sequence: '0', hash: Buffer.alloc(32) };

const HASHED_PATHS = [
  'organizationId',
  'sequence',
  ...AUDIT_LOG_COLUMNS.filter((path) => path !== 'changes'),
].map((path) => path.split('.'));

/** Part of what is hashed. Entries without changes have the form that they always had. */
const VERSION_WITHOUT_CHANGES = 1;
const VERSION_WITH_CHANGES = 2;

export function nextSequence({ sequence }: ChainLink): string {
  return String(BigInt(sequence) + 1n);
}

/** Returns the SHA-256 of the hash of the previous entry and the content of this one. */
export function hashEntry(entry: UnhashedEntry, previous: ChainLink): Buffer {
  return createHash('sha256').update(previous.hash).update(canonical(entry), 'utf8').digest();
}

/** Serializes an entry unambiguously: the escapes of JSON keep adjacent fields distinct. */
function canonical(entry: UnhashedEntry): string {
  const values = HASHED_PATHS.map((path) =>
    path.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], entry),
  );
  if (entry.changes === null) return JSON.stringify([VERSION_WITHOUT_CHANGES, ...values]);
  // PostgreSQL does not keep the order of members.
  const changes = entry.changes.map(({ field, from, to }) => [field, from, to]);
  return JSON.stringify([VERSION_WITH_CHANGES, ...values, changes]);
}
