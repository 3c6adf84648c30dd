import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Snapshot } from '../../infrastructure/database/index.js';
import { KeyedQueue } from '../../infrastructure/queues/index.js';
import { OperatorError, SERVICE_UNAVAILABLE } from '../../infrastructure/errors/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { parsedJson } from '../../infrastructure/config/index.js';
import { CHAIN_START, nextSequence, hashEntry, type ChainLink } from './audit-chain.js';
import type { AuditLogEntry } from './audit-log-entry.entity.js';
import { AuditLogRepository } from './audit-log.repository.js';

/** The head of a chain in the exported format. */
export interface ExportedHead {
  readonly organization_id: string;
  readonly sequence: number;
  /** SHA-256 in hexadecimal digits. */
  readonly hash: string;
  /** Time of the entry; null if there is none. */
  readonly created_at: string | null;
}

interface Flaw {
  readonly problem: 'altered' | 'missing' | 'head_mismatch';
  readonly sequence: number;
  /** Null if the entry does not exist. */
  readonly id: string | null;
  /** A sentence for the operator. */
  readonly explanation: string;
}

export interface ChainReport {
  readonly organizationId: string;
  /** Number of valid entries from the start. */
  readonly entries: number;
  readonly flaw: Flaw | undefined;
}

/** The result of verifying a part of an organization's chain. */
export interface PartialChainReport {
  /** The sequences of the first and the last entry of the part. */
  readonly from: number;
  readonly to: number;
  /** Whether the part ends with the newest entry. */
  readonly isNewest: boolean;
  readonly head: ExportedHead;
  readonly flaw: Flaw | undefined;
}

type ExpectedEnd = ExportedHead & { readonly source: string };

/** Each one holds a connection. */
const CONCURRENT_VERIFICATIONS = 2;
/** Milliseconds between two responses. Rendering a page takes a third of it. */
const ANSWER_INTERVAL = 20;
/** A page that takes longer would not be seen. */
const WAITING = {
  timeout: {
    milliseconds: 20 * SECOND,
    error: () => SERVICE_UNAVAILABLE.error(undefined, { retryAfter: 20 }),
  },
};

/**
 * Recomputes chains and compares them with the stored hashes. A verification never continues from an earlier one: that would
 * not find what was changed in the meantime.
 */
@Injectable()
export class AuditVerification {
  private readonly ofOrganization = new KeyedQueue(1, WAITING);
  private readonly all = new KeyedQueue(CONCURRENT_VERIFICATIONS, WAITING);
  private readonly answers = new KeyedQueue(1);
  private readonly running = new Map<string, Promise<PartialChainReport>>();

  constructor(private readonly repository: AuditLogRepository) {}

  organizationIds(): Promise<string[]> {
    return this.repository.organizationIds();
  }

  /** Returns the head of the organization's chain in the exported format, which operators sign and store elsewhere. */
  async head(organizationId: string): Promise<ExportedHead> {
    const head = await this.repository.head(organizationId);
    const { sequence, hash } = head ?? CHAIN_START;
    return {
      organization_id: organizationId,
      sequence: Number(sequence),
      hash: hash.toString('hex'),
      created_at: head?.createdAt.toISOString() ?? null,
    };
  }

  /**
   * Verifies the whole chain, in one snapshot because it may grow meanwhile.
   *
   * @param kept a head that was exported earlier, which the chain must still contain
   */
  @Snapshot()
  async verify(organizationId: string, kept?: ExportedHead): Promise<ChainReport> {
    const storedEnd = { ...(await this.head(organizationId)), source: 'the stored head' };
    const keptEnd = kept && { ...kept, source: 'the exported head' };
    const { last, flaw } = await this.follow(organizationId, CHAIN_START, storedEnd, (entry) =>
      keptEnd?.sequence === Number(entry.sequence) ? mismatch(entry, keptEnd) : undefined,
    );
    const isCut = keptEnd && keptEnd.sequence > Number(last.sequence);
    const flawOfEnd = isCut ? loss(last, keptEnd) : endFlaw(last, storedEnd);
    return { organizationId, entries: Number(last.sequence), flaw: flaw ?? flawOfEnd };
  }

  /**
   * Verifies a part of the chain: the newest entries, or the entries up to a sequence. Trusts the hash of the entry before.
   *
   * The parts of an organization are verified one at a time; who asks for a part that waits or runs gets its result.
   *
   * @param upTo the sequence of the last entry to verify; by default, that of the head
   */
  async verifyPart(organizationId: string, size: number, upTo?: number): Promise<PartialChainReport> {
    const key = `${organizationId} ${size} ${upTo}`;
    const verify = () => this.all.run('', () => this.partOf(organizationId, size, upTo));
    const running =
      this.running.get(key) ??
      this.ofOrganization.run(organizationId, verify).finally(() => this.running.delete(key));
    this.running.set(key, running);
    const report = await running;
    // Requests that waited together get their responses one after the other, so that their pages do not delay other organizations.
    await this.answers.run(organizationId, () => pause(ANSWER_INTERVAL));
    return report;
  }

  @Snapshot()
  private async partOf(organizationId: string, size: number, upTo?: number): Promise<PartialChainReport> {
    const head = await this.head(organizationId);
    const storedEnd = { ...head, source: 'the stored head' };
    const isNewest = upTo === undefined || upTo >= storedEnd.sequence;
    const end = isNewest ? storedEnd.sequence : upTo;
    const start = Math.max(end - size, 0);
    const anchor =
      start === 0 ? CHAIN_START : await this.repository.find(organizationId, { sequence: String(start) });
    const part = { from: start + 1, to: end, isNewest, head };
    if (!anchor) return { ...part, flaw: missing(start) };
    const { last, flaw } = await this.follow(
      organizationId,
      anchor,
      isNewest ? storedEnd : { sequence: end },
    );
    const flawOfEnd = isNewest
      ? endFlaw(last, storedEnd)
      : Number(last.sequence) < end
        ? missing(end)
        : undefined;
    return { ...part, flaw: flaw ?? flawOfEnd };
  }

  /**
   * Recomputes the hashes of the entries after a link.
   *
   * @param end where the chain should end, or, without a source, where to stop
   * @returns the last entry before the first flaw
   */
  private async follow(
    organizationId: string,
    start: ChainLink,
    end: Pick<ExpectedEnd, 'sequence'> & Partial<ExpectedEnd>,
    check: (entry: AuditLogEntry) => Flaw | undefined = () => undefined,
  ): Promise<{ last: ChainLink & Partial<AuditLogEntry>; flaw: Flaw | undefined }> {
    let last: ChainLink & Partial<AuditLogEntry> = start;
    const after = start === CHAIN_START ? undefined : start.sequence;
    for await (const entry of this.repository.inOrderOfChain(organizationId, after)) {
      const isBeyond = Number(entry.sequence) > end.sequence;
      if (isBeyond && end.source === undefined) break;
      const flaw =
        gap(entry, last) ??
        alteration(entry, last) ??
        check(entry) ??
        (isBeyond ? excess(entry, end.sequence, end.source) : undefined);
      if (flaw) return { last, flaw };
      last = entry;
    }
    return { last, flaw: undefined };
  }
}

function endFlaw(last: ChainLink & Partial<AuditLogEntry>, end: ExpectedEnd): Flaw | undefined {
  return end.sequence > Number(last.sequence) ? loss(last, end) : mismatch(last, end);
}

function missing(sequence: number): Flaw {
  return flawOf('missing', { sequence }, `Entry ${sequence} is missing.`);
}

function gap(entry: AuditLogEntry, last: ChainLink): Flaw | undefined {
  const sequence = nextSequence(last);
  if (entry.sequence === sequence) return undefined;
  const explanation = `Entry ${sequence} is missing: ${entry.sequence} was found in its place.`;
  return flawOf('missing', { sequence }, explanation);
}

function alteration(entry: AuditLogEntry, last: ChainLink): Flaw | undefined {
  if (hashEntry(entry, last).equals(entry.hash)) return undefined;
  return flawOf('altered', entry, `Entry ${entry.sequence} does not match its hash.`);
}

function excess(entry: AuditLogEntry, sequence: number, source = ''): Flaw {
  return flawOf(
    'head_mismatch',
    entry,
    `Entry ${entry.sequence} is newer than ${source} (entry ${sequence}): the entry was added without updating the head, or the head was changed.`,
  );
}

function loss(last: ChainLink, { sequence, source }: ExpectedEnd): Flaw {
  const explanation = `The chain ends at entry ${last.sequence}, but ${source} is ${sequence}: later entries were removed.`;
  return flawOf('head_mismatch', { sequence: nextSequence(last) }, explanation);
}

function mismatch(entry: ChainLink & Partial<AuditLogEntry>, end: ExpectedEnd): Flaw | undefined {
  const sameTime = (entry.datetime?.toISOString() ?? null) === end.created_at;
  if (entry.hash.toString('hex') === end.hash && sameTime) return undefined;
  return flawOf('head_mismatch', entry, `Entry ${entry.sequence} does not match ${end.source}.`);
}

function flawOf(
  problem: Flaw['problem'],
  { sequence, id }: { readonly sequence: string | number; readonly id?: string },
  explanation: string,
): Flaw {
  return { problem, sequence: Number(sequence), id: id ?? null, explanation };
}

/** Parses an exported head. @throws OperatorError if the text is not an exported head */
export function parseHead(text: string): ExportedHead {
  const head = parsedJson(text) as Partial<Record<keyof ExportedHead, unknown>> | null | undefined;
  const isHead =
    isUUID(head?.organization_id) &&
    Number.isSafeInteger(head?.sequence) &&
    Number(head?.sequence) >= 0 &&
    /^[0-9a-f]{64}$/.test(String(head?.hash));
  if (!isHead) throw new OperatorError('The file does not contain a head in the format of `audit head`.');
  return head as ExportedHead;
}
