import { Injectable } from '@nestjs/common';
import { isObject } from 'class-validator';
import { Transactional } from '../../infrastructure/database/index.js';
import { ApiError } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { validated } from '../../infrastructure/validation/index.js';
import type { EventMerchant } from '../../infrastructure/event-catalog/index.js';
import { ApiClientsService, type ClientRecord } from '../api-clients/index.js';
import { OperatorAudit } from '../audit-logs/index.js';
import { MerchantCatalogService } from '../merchants/index.js';
import { WebhookPublisher } from '../webhooks/index.js';
import type { DetectedAccount } from './detected-account.entity.js';
import { ImportedDetection } from './detected-accounts.dto.js';
import { DetectedAccountsRepository } from './detected-accounts.repository.js';
import { detectionEvent, type UserDetections } from './detected-accounts.service.js';

/** Receives the progress of an import. Line numbers start at 1. */
export interface ImportListener {
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
  readonly client: ClientRecord;
  readonly externalUserId: string;
  readonly merchant: string | number;
  readonly detectedAt: Date;
}

/** The merchants of a batch are looked up together, and its accounts are inserted by one statement. */
const LINES_PER_BATCH = 1_000;

/**
 * Maximum length of a line in characters, far more than a detection needs. A reader of lines may cut off the rest of a longer
 * line after one more character, which is enough for the import to reject the line.
 */
export const MAX_LINE_LENGTH = 65_536;
/** Characters of a line that a message quotes. */
const MAX_QUOTE_LENGTH = 80;
/** Written by a decoder in place of invalid UTF-8. */
const REPLACEMENT_CHARACTER = '\uFFFD';

/**
 * Imports detections in bulk from NDJSON: `client_id`, `external_user_id`, `merchant` (a name) or `merchant_id`, and
 * `detected_at` (default: the time of the import). Clients get one `NEW_DETECTED_ACCOUNTS_AVAILABLE` for each user and
 * batch, with the accounts that were not known before. Imports are idempotent, so an interrupted one can be run again.
 */
@Injectable()
export class DetectedAccountsImport {
  constructor(
    private readonly repository: DetectedAccountsRepository,
    private readonly merchants: MerchantCatalogService,
    private readonly apiClients: ApiClientsService,
    private readonly webhooks: WebhookPublisher,
    private readonly audit: OperatorAudit,
    private readonly clock: Clock,
  ) {}

  /** @param options.notify whether clients are notified of accounts that were not known before */
  async run(
    lines: AsyncIterable<string>,
    listener: ImportListener,
    { notify }: { readonly notify: boolean },
  ): Promise<ImportState> {
    const clients = new Map(
      (await this.apiClients.list()).map(({ id, organizationId, environment }) => [
        id,
        { clientId: id, organizationId, environment },
      ]),
    );
    const audited = new Set<ClientRecord>();
    const state = { lines: 0, recorded: 0, skipped: 0 };
    let batch: Detection[] = [];

    const skip = (line: number, reason: string): void => {
      state.skipped += 1;
      listener.skipped(line, reason);
    };
    const flush = async (): Promise<void> => {
      state.recorded += await this.record(batch, notify, audited, skip);
      batch = [];
      listener.progress({ ...state });
    };

    for await (const text of lines) {
      state.lines += 1;
      if (text.trim() !== '') {
        const detection = parseDetection(text, state.lines, this.clock.now(), clients);
        if (typeof detection === 'string') skip(state.lines, detection);
        else batch.push(detection);
      }
      if (state.lines % LINES_PER_BATCH === 0) await flush();
    }
    await flush();
    return state;
  }

  private async record(
    batch: readonly Detection[],
    notify: boolean,
    audited: Set<ClientRecord>,
    skip: (line: number, reason: string) => void,
  ): Promise<number> {
    const merchants = batch.map(({ merchant }) => merchant);
    const byName = await this.merchants.idsByName(
      merchants.filter((merchant) => typeof merchant === 'string'),
    );
    const byId = await this.merchants.byIds(merchants.filter((merchant) => typeof merchant === 'number'));
    const clients = new Set<ClientRecord>();
    const recorded = batch.flatMap(({ line, merchant, client, externalUserId, detectedAt }) => {
      const merchantId = typeof merchant === 'string' ? byName.get(merchant) : byId.get(merchant)?.id;
      if (merchantId !== undefined) {
        clients.add(client);
        return [{ clientId: client.clientId, externalUserId, merchantId, detectedAt }];
      }
      skip(line, `The merchant ${JSON.stringify(merchant).slice(0, MAX_QUOTE_LENGTH)} is not known.`);
      return [];
    });
    for (const client of clients) {
      if (audited.has(client)) continue;
      await this.recordImport(client);
      audited.add(client);
    }
    if (recorded.length > 0) await this.store(recorded, batch, notify);
    return recorded.length;
  }

  /** Writes the entry of an import before its first account of the client, in a transaction of its own, as an export does. */
  private async recordImport({ clientId, organizationId, environment }: ClientRecord): Promise<void> {
    const target = { name: clientId, environment };
    await this.audit.record({ organizationId, action: 'detected_account.import', target });
  }

  /** Records the accounts and publishes the events in one transaction. */
  @Transactional()
  private async store(
    accounts: readonly DetectedAccount[],
    detections: readonly Detection[],
    notify: boolean,
  ): Promise<void> {
    const added = await this.repository.record(accounts);
    if (!notify || added.length === 0) return;
    const merchants = await this.merchants.byIds(added.map(({ merchantId }) => merchantId));
    const clients = new Map(detections.map(({ client }) => [client.clientId, client]));
    const users = new Map<string, UserDetections>();
    for (const { clientId, externalUserId, merchantId } of added) {
      const key = `${clientId} ${externalUserId}`;
      const client = clients.get(clientId) as ClientRecord;
      const user = users.get(key) ?? { client, externalUserId, merchants: [] };
      user.merchants.push(merchants.get(merchantId) as EventMerchant);
      users.set(key, user);
    }
    await this.webhooks.publishAll([...users.values()].map(detectionEvent));
  }
}

/** @returns the detection, or a description of the problem with the line */
function parseDetection(
  text: string,
  line: number,
  now: Date,
  clients: ReadonlyMap<string, ClientRecord>,
): Detection | string {
  if (text.length > MAX_LINE_LENGTH) return `The line is longer than ${MAX_LINE_LENGTH} characters.`;
  if (text.includes(REPLACEMENT_CHARACTER)) return 'The line is not valid UTF-8.';
  let request: ImportedDetection;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return 'The line is not a JSON object.';
    request = validated(ImportedDetection, value);
  } catch (error) {
    if (error instanceof SyntaxError) return 'The line is not valid JSON.';
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  const client = clients.get(request.client_id.toLowerCase());
  if (!client) return 'There is no API client with this client_id.';
  return {
    line,
    client,
    externalUserId: request.external_user_id,
    merchant: request.merchant_id ?? request.merchant ?? '',
    detectedAt: request.detected_at === undefined ? now : new Date(request.detected_at),
  };
}
