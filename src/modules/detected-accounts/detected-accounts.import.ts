import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Clock } from '../../infrastructure/time/index.js';
import {
  EXTERNAL_USER_ID_LENGTH,
  isMissing,
  isTimestamp,
  MESSAGES,
  validateText,
} from '../../infrastructure/validation/index.js';
import { ApiClientsService } from '../api-clients/index.js';
import { MerchantCatalogService } from '../merchants/index.js';
import { DetectedAccountsRepository } from './detected-accounts.repository.js';

/** Receives the progress of an import. Line numbers start at 1. */
export interface ImportListener {
  /** Called for every skipped line. */
  skipped(line: number, reason: string): void;
  /** Called after every batch. */
  progress(state: ImportState): void;
}

export interface ImportState {
  readonly lines: number;
  readonly recorded: number;
  readonly skipped: number;
}

/** A valid line. Whether its client and merchant exist is checked later. */
interface Detection {
  readonly line: number;
  readonly clientId: string;
  readonly externalUserId: string;
  readonly merchant: string | number;
  readonly detectedAt: Date;
}

/** Lines that share one statement to look up merchants, and one to insert. */
const LINES_PER_BATCH = 1_000;

/** Characters, far more than a detection needs. A reader of lines may truncate longer ones after this length. */
export const MAX_LINE_LENGTH = 65_536;
/** Characters of a line that a message quotes. */
const MAX_QUOTE_LENGTH = 80;
/** Written by a decoder in place of invalid UTF-8. */
const REPLACEMENT_CHARACTER = '\uFFFD';

/**
 * Imports detections in bulk from NDJSON: `client_id`, `external_user_id`, `merchant` (a name) or `merchant_id`, and
 * `detected_at` (default: the time of the import). Imports are idempotent, so an interrupted one can be run again.
 */
@Injectable()
export class DetectedAccountsImport {
  constructor(
    private readonly repository: DetectedAccountsRepository,
    private readonly merchants: MerchantCatalogService,
    private readonly apiClients: ApiClientsService,
    private readonly clock: Clock,
  ) {}

  async run(lines: AsyncIterable<string>, listener: ImportListener): Promise<ImportState> {
    const clients = new Set((await this.apiClients.list()).map(({ id }) => id));
    const state = { lines: 0, recorded: 0, skipped: 0 };
    let batch: Detection[] = [];

    const skip = (line: number, reason: string): void => {
      state.skipped += 1;
      listener.skipped(line, reason);
    };
    const flush = async (): Promise<void> => {
      state.recorded += await this.record(batch, skip);
      batch = [];
      listener.progress({ ...state });
    };

    for await (const text of lines) {
      state.lines += 1;
      if (text.trim() !== '') {
        const detection = parseDetection(text, state.lines, this.clock.now());
        if (typeof detection === 'string') skip(state.lines, detection);
        else if (!clients.has(detection.clientId))
          skip(state.lines, 'There is no API client with this client_id.');
        else batch.push(detection);
      }
      if (state.lines % LINES_PER_BATCH === 0) await flush();
    }
    await flush();
    return state;
  }

  private async record(
    batch: readonly Detection[],
    skip: (line: number, reason: string) => void,
  ): Promise<number> {
    const merchants = batch.map(({ merchant }) => merchant);
    const byName = await this.merchants.idsByName(
      merchants.filter((merchant) => typeof merchant === 'string'),
    );
    const byId = await this.merchants.byIds(merchants.filter((merchant) => typeof merchant === 'number'));
    const accounts = batch.flatMap(({ line, merchant, ...account }) => {
      const merchantId = typeof merchant === 'string' ? byName.get(merchant) : merchant;
      if (merchantId === undefined || (typeof merchant === 'number' && !byId.has(merchant))) {
        skip(line, `The merchant ${JSON.stringify(merchant).slice(0, MAX_QUOTE_LENGTH)} is not known.`);
        return [];
      }
      return [{ ...account, merchantId }];
    });
    if (accounts.length > 0) await this.repository.record(accounts);
    return accounts.length;
  }
}

/** @returns the detection, or a description of the problem with the line */
function parseDetection(text: string, line: number, now: Date): Detection | string {
  if (text.length > MAX_LINE_LENGTH) return `The line is longer than ${MAX_LINE_LENGTH} characters.`;
  if (text.includes(REPLACEMENT_CHARACTER)) return 'The line is not valid UTF-8.';
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return 'The line is not valid JSON.';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'The line is not a JSON object.';
  const problem = validateDetection(value);
  if (problem !== undefined) return problem;
  const { client_id, external_user_id, merchant, merchant_id, detected_at } = value;
  return {
    line,
    clientId: (client_id as string).toLowerCase(),
    externalUserId: external_user_id as string,
    merchant: (isMissing(merchant_id) ? merchant : merchant_id) as string | number,
    detectedAt: isMissing(detected_at) ? now : new Date(detected_at as string),
  };
}

function validateDetection(value: Readonly<Record<string, unknown>>): string | undefined {
  const { client_id, external_user_id, merchant, merchant_id, detected_at } = value;
  if (isMissing(client_id)) return MESSAGES.required('client_id');
  if (!isUUID(client_id)) return MESSAGES.uuid('client_id');
  if (isMissing(external_user_id)) return MESSAGES.required('external_user_id');
  const problem =
    validateText('external_user_id', external_user_id, EXTERNAL_USER_ID_LENGTH) ??
    (isMissing(merchant_id) ? validateMerchant(merchant) : validateMerchantId(merchant_id));
  if (problem !== undefined) return problem;
  return isMissing(detected_at) || isTimestamp(detected_at) ? undefined : MESSAGES.timestamp('detected_at');
}

function validateMerchant(name: unknown): string | undefined {
  return isMissing(name) ? MESSAGES.required('merchant') : validateText('merchant', name);
}

function validateMerchantId(id: unknown): string | undefined {
  const isId = Number.isInteger(id) && (id as number) > 0 && (id as number) < 2 ** 31;
  return isId ? undefined : 'The merchant_id field must be a positive integer.';
}
