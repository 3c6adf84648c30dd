import { createHash } from 'node:crypto';
import type { AuditLogEntry } from './audit-log-entry.entity.js';

/** An entry before it is sealed. */
export type UnhashedEntry = Omit<AuditLogEntry, 'hash'>;

/** What the next entry is chained to. */
export type ChainLink = Pick<AuditLogEntry, 'sequence' | 'hash'>;

/** What the first entry is chained to. */
export const CHAIN_START: ChainLink = { sequence: '0', hash: Buffer.alloc(32) };

/** Changes with the fields or their order; entries say by it how they are to be read. */
const CANONICAL_VERSION = 1;

/** The sequence of the entry behind this one. */
export function nextSequence({ sequence }: ChainLink): string {
  return String(BigInt(sequence) + 1n);
}

/** SHA-256 over the hash of the previous entry and all that this one says. */
export function hashEntry(entry: UnhashedEntry, previous: ChainLink): Buffer {
  return createHash('sha256').update(previous.hash).update(canonical(entry), 'utf8').digest();
}

/** One spelling for each entry: a JSON array, whose escapes keep neighbouring fields apart. */
function canonical(entry: UnhashedEntry): string {
  return JSON.stringify([
    CANONICAL_VERSION,
    entry.organizationId,
    entry.sequence,
    entry.id,
    entry.createdAt.toISOString(),
    entry.action,
    entry.outcome,
    entry.actorName,
    entry.actorEmail,
    entry.targetType,
    entry.targetName,
    entry.targetEnvironment,
    entry.contextIp,
    entry.contextUserAgent,
  ]);
}
