import { isUUID } from 'class-validator';
import { OperatorError } from '../../infrastructure/errors/index.js';
import type { AuditChainHead } from './audit-chain-head.entity.js';
import type { ChainLink } from './audit-chain.js';

/** The head of a chain in the exported format. */
export interface ExportedHead {
  readonly organization_id: string;
  readonly sequence: number;
  /** SHA-256 in hexadecimal digits. */
  readonly hash: string;
  /** Time of the entry; null if there is none. */
  readonly created_at: string | null;
}

/** Converts a head to the exported format, which operators sign and store elsewhere. */
export function exportHead(
  organizationId: string,
  { sequence, hash, createdAt }: ChainLink & Partial<AuditChainHead>,
): ExportedHead {
  return {
    organization_id: organizationId,
    sequence: Number(sequence),
    hash: hash.toString('hex'),
    created_at: createdAt?.toISOString() ?? null,
  };
}

/**
 * Parses an exported head.
 *
 * @throws OperatorError if the text is not an exported head
 */
export function parseHead(text: string): ExportedHead {
  const head = parse(text) as Partial<Record<keyof ExportedHead, unknown>> | null | undefined;
  const isHead =
    isUUID(head?.organization_id) &&
    Number.isSafeInteger(head?.sequence) &&
    Number(head?.sequence) >= 0 &&
    /^[0-9a-f]{64}$/.test(String(head?.hash));
  if (!isHead) throw new OperatorError('The file does not contain a head in the format of `audit head`.');
  return head as ExportedHead;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
