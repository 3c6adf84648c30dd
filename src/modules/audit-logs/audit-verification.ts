import { Injectable } from '@nestjs/common';
import { Snapshot } from '../../infrastructure/database/index.js';
import { CHAIN_START, nextSequence, hashEntry, type ChainLink } from './audit-chain.js';
import type { AuditLogEntry } from './audit-log-entry.entity.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { exportHead, type ExportedHead } from './exported-head.js';

/** The first problem of a chain. */
interface Flaw {
  readonly problem: 'altered' | 'missing' | 'head_mismatch';
  readonly sequence: number;
  /** Null if the entry does not exist. */
  readonly id: string | null;
  /** A sentence for the operator. */
  readonly explanation: string;
}

/** The result of verifying an organization's chain. */
export interface ChainReport {
  readonly organizationId: string;
  /** Number of valid entries from the start. */
  readonly entries: number;
  readonly flaw: Flaw | undefined;
}

/** The end of a chain according to one source. */
interface ExpectedEnd {
  readonly sequence: number;
  readonly hash: string;
  readonly createdAt: string | null;
  readonly source: string;
}

/** Recomputes chains and compares them with the stored hashes. */
@Injectable()
export class AuditVerification {
  constructor(private readonly repository: AuditLogRepository) {}

  /** Returns all organizations that have a chain. */
  organizationIds(): Promise<string[]> {
    return this.repository.organizationIds();
  }

  /** Returns the head of the organization's chain, for export. */
  async head(organizationId: string): Promise<ExportedHead> {
    return exportHead(organizationId, (await this.repository.head(organizationId)) ?? CHAIN_START);
  }

  /**
   * Verifies the whole chain, in one snapshot because it may grow meanwhile.
   *
   * @param kept a head that was exported earlier, which the chain must still contain
   */
  @Snapshot()
  async verify(organizationId: string, kept?: ExportedHead): Promise<ChainReport> {
    const storedEnd = expectedEnd(await this.head(organizationId), 'the stored head');
    const keptEnd = kept && expectedEnd(kept, 'the exported head');
    let last: ChainLink & Partial<AuditLogEntry> = CHAIN_START;
    for await (const entry of this.repository.inOrderOfChain(organizationId)) {
      const flaw =
        gap(entry, last) ??
        alteration(entry, last) ??
        (keptEnd?.sequence === Number(entry.sequence) ? mismatch(entry, keptEnd) : undefined) ??
        (Number(entry.sequence) > storedEnd.sequence ? excess(entry, storedEnd) : undefined);
      if (flaw) return report(organizationId, last, flaw);
      last = entry;
    }
    const flaw =
      (keptEnd && keptEnd.sequence > Number(last.sequence) ? loss(last, keptEnd) : undefined) ??
      (storedEnd.sequence > Number(last.sequence) ? loss(last, storedEnd) : undefined) ??
      mismatch(last, storedEnd);
    return report(organizationId, last, flaw);
  }
}

function expectedEnd({ sequence, hash, created_at }: ExportedHead, source: string): ExpectedEnd {
  return { sequence, hash, createdAt: created_at, source };
}

function report(organizationId: string, last: ChainLink, flaw: Flaw | undefined): ChainReport {
  return { organizationId, entries: Number(last.sequence), flaw };
}

function gap(entry: AuditLogEntry, last: ChainLink): Flaw | undefined {
  const expected = nextSequence(last);
  if (entry.sequence === expected) return undefined;
  return {
    problem: 'missing',
    sequence: Number(expected),
    id: null,
    explanation: `Entry ${expected} is missing: ${entry.sequence} was found in its place.`,
  };
}

function alteration(entry: AuditLogEntry, last: ChainLink): Flaw | undefined {
  if (hashEntry(entry, last).equals(entry.hash)) return undefined;
  return flawOf('altered', entry, `Entry ${entry.sequence} does not match its hash.`);
}

function excess(entry: AuditLogEntry, { sequence, source }: ExpectedEnd): Flaw {
  return flawOf(
    'head_mismatch',
    entry,
    `Entry ${entry.sequence} is newer than ${source} (entry ${sequence}): the entry was added without updating the head, or the head was changed.`,
  );
}

function loss(last: ChainLink, { sequence, source }: ExpectedEnd): Flaw {
  return {
    problem: 'head_mismatch',
    sequence: Number(nextSequence(last)),
    id: null,
    explanation: `The chain ends at entry ${last.sequence}, but ${source} is ${sequence}: later entries were removed.`,
  };
}

function mismatch(entry: ChainLink & Partial<AuditLogEntry>, end: ExpectedEnd): Flaw | undefined {
  const sameTime = (entry.createdAt?.toISOString() ?? null) === end.createdAt;
  if (entry.hash.toString('hex') === end.hash && sameTime) return undefined;
  return flawOf('head_mismatch', entry, `Entry ${entry.sequence} does not match ${end.source}.`);
}

function flawOf(
  problem: Flaw['problem'],
  { sequence, id }: ChainLink & Partial<AuditLogEntry>,
  explanation: string,
): Flaw {
  return { problem, sequence: Number(sequence), id: id ?? null, explanation };
}
