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
];

export type UnhashedEntry = Omit<AuditLogEntry, 'hash'>;

/** The part of an entry that the next entry is chained to. */
export type ChainLink = Pick<AuditLogEntry, 'sequence' | 'hash'>;

/** The link that the first entry is chained to. */
export const CHAIN_START: ChainLink = { sequence: '0', hash: Buffer.alloc(32) };

const HASHED_PATHS = ['organizationId', 'sequence', ...AUDIT_LOG_COLUMNS].map((path) => path.split('.'));

/** Increase it when the fields or their order change. It is part of what is hashed. */
const CANONICAL_VERSION = 1;

/** Returns the sequence of the next entry. */
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
  return JSON.stringify([CANONICAL_VERSION, ...values]);
}
