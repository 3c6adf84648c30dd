import { Injectable } from '@nestjs/common';
import { Snapshot } from '../../infrastructure/database/index.js';
import { CHAIN_START, nextSequence, hashEntry, type ChainLink } from './audit-chain.js';
import type { AuditLogEntry } from './audit-log-entry.entity.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { exportHead, type ExportedHead } from './exported-head.js';

/** The first thing that is wrong with a chain. */
interface Flaw {
  readonly problem: 'altered' | 'missing' | 'head_mismatch';
  readonly sequence: number;
  /** Null where there is no such entry. */
  readonly id: string | null;
  /** For people. */
  readonly explanation: string;
}

/** What became of an organization's chain. */
export interface ChainReport {
  readonly organizationId: string;
  /** How many entries are in order, from the first on. */
  readonly entries: number;
  readonly flaw: Flaw | undefined;
}

/** The end of a chain, as one source or another tells it. */
interface ToldEnd {
  readonly sequence: number;
  readonly hash: string;
  readonly createdAt: string | null;
  readonly toldBy: string;
}

/** Computes chains anew and compares them with what is stored. */
@Injectable()
export class AuditVerification {
  constructor(private readonly repository: AuditLogRepository) {}

  /** Every organization that has ever recorded anything. */
  organizationIds(): Promise<string[]> {
    return this.repository.organizationIds();
  }

  /** The head of the organization's chain, to be kept elsewhere. */
  async head(organizationId: string): Promise<ExportedHead> {
    return exportHead(organizationId, (await this.repository.head(organizationId)) ?? CHAIN_START);
  }

  /**
   * Reads the whole chain, as of one moment, so that it may grow meanwhile.
   *
   * @param kept a head that was exported before: the chain must still hold it
   */
  @Snapshot()
  async verify(organizationId: string, kept?: ExportedHead): Promise<ChainReport> {
    const storedEnd = told(await this.head(organizationId), 'the stored head');
    const keptEnd = kept && told(kept, 'the head that was kept');
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

function told({ sequence, hash, created_at }: ExportedHead, toldBy: string): ToldEnd {
  return { sequence, hash, createdAt: created_at, toldBy };
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
    explanation: `Entry ${expected} is missing: ${entry.sequence} stands in its place.`,
  };
}

function alteration(entry: AuditLogEntry, last: ChainLink): Flaw | undefined {
  if (hashEntry(entry, last).equals(entry.hash)) return undefined;
  return flawOf('altered', entry, `Entry ${entry.sequence} is not what was recorded.`);
}

function excess(entry: AuditLogEntry, { sequence, toldBy }: ToldEnd): Flaw {
  return flawOf('head_mismatch', entry, `Entry ${entry.sequence} lies behind ${toldBy}, ${sequence}.`);
}

function loss(last: ChainLink, { sequence, toldBy }: ToldEnd): Flaw {
  return {
    problem: 'head_mismatch',
    sequence: Number(nextSequence(last)),
    id: null,
    explanation: `The chain ends at entry ${last.sequence}, but ${toldBy} is ${sequence}: the end was cut off.`,
  };
}

function mismatch(entry: ChainLink & Partial<AuditLogEntry>, end: ToldEnd): Flaw | undefined {
  const sameTime = (entry.createdAt?.toISOString() ?? null) === end.createdAt;
  if (entry.hash.toString('hex') === end.hash && sameTime) return undefined;
  return flawOf(
    'head_mismatch',
    entry,
    `Entry ${entry.sequence} is not the one that ${end.toldBy} tells of.`,
  );
}

function flawOf(
  problem: Flaw['problem'],
  { sequence, id }: ChainLink & Partial<AuditLogEntry>,
  explanation: string,
): Flaw {
  return { problem, sequence: Number(sequence), id: id ?? null, explanation };
}
