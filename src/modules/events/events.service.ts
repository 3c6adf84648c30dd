import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isObject } from 'class-validator';
import { KeyedQueue } from '../../infrastructure/queues/index.js';
import { ApiError, INVALID_FIELD, PAYLOAD_TOO_LARGE } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { validated } from '../../infrastructure/validation/index.js';
import {
  conditionalFieldsOf,
  EVENTS,
  merchantIdsIn,
  merchantsFieldOf,
  validateData,
  type AnyEvent,
  type EventMerchant,
  type EventName,
} from '../../infrastructure/event-catalog/index.js';
import { API_CLIENT_NOT_FOUND, ApiClientDirectory, type ClientRecord } from '../api-clients/index.js';
import { MERCHANT_NOT_FOUND, MerchantCatalogService, requireMerchants } from '../merchants/index.js';
import {
  contentHash,
  eventResponseOf,
  requireEventTime,
  WebhookPublisher,
  type EventResponse,
  type PublishRequest,
} from '../webhooks/index.js';
import {
  MAX_EVENT_BYTES,
  NO_KEY_FOR_BATCH,
  PublishEventRequest,
  type EventResultsResponse,
  type PublishEventsRequest,
} from './events.dto.js';

interface References {
  readonly clients: ReadonlyMap<string, ClientRecord>;
  readonly merchants: ReadonlyMap<number, EventMerchant>;
}

/** A batch of 1,000 events takes tens of milliseconds of the process. The events of others are published in between. */
const CONCURRENT_BATCHES = 2;
/** Events of a batch that are read before others are served. */
const EVENTS_PER_TURN = 50;

/** Publishes the events of the platform's own services. */
@Injectable()
export class EventsService {
  private readonly batches = new KeyedQueue(CONCURRENT_BATCHES);

  constructor(
    private readonly clients: ApiClientDirectory,
    private readonly merchants: MerchantCatalogService,
    private readonly publisher: WebhookPublisher,
    private readonly clock: Clock,
  ) {}

  /** Returns after the commit. */
  async publish(request: PublishEventRequest): Promise<EventResponse> {
    validateEventFields(request, this.clock.now());
    const [result] = await this.publishAll([request]);
    if (result instanceof Error) throw result;
    return result as EventResponse;
  }

  /**
   * Publishes the valid events. Returns after the commit.
   *
   * @param header the `Idempotency-Key` header, which would otherwise be ignored without notice
   */
  async publishBatch(
    { events }: PublishEventsRequest,
    header: string | undefined,
  ): Promise<EventResultsResponse> {
    if (header !== undefined) throw INVALID_FIELD.error(NO_KEY_FOR_BATCH);
    const results = await this.batches.run('', async () =>
      this.publishAll(await readEvents(events, this.clock.now())),
    );
    return {
      results: results.map((result) => {
        if (result instanceof ApiError) return { event_id: null, duplicate: false, error: result.body };
        if (result instanceof Error) throw result;
        return { ...result, error: null };
      }),
    };
  }

  /**
   * Publishes the events with one statement, and one more for clients and for merchants that are not cached.
   *
   * @returns one result for each request, in order. An `ApiError` in `requests` is returned unchanged.
   */
  private async publishAll(
    requests: readonly (PublishEventRequest | ApiError)[],
  ): Promise<(EventResponse | Error)[]> {
    const references = await this.referencesOf(withoutErrors(requests));
    const resolved = requests.map((request) =>
      request instanceof ApiError ? request : resultOrError(() => toPublishRequest(request, references)),
    );
    const events = withoutErrors(resolved);
    const published = events.length === 0 ? [] : await this.publisher.publishAll(events);
    const results = new Map(events.map((event, index) => [event, published[index]]));
    return resolved.map((event) => (event instanceof ApiError ? event : eventResponseOf(results.get(event))));
  }

  private async referencesOf(requests: readonly PublishEventRequest[]): Promise<References> {
    const merchantIds = requests.flatMap((request) => [
      ...(request.merchant_id === undefined ? [] : [request.merchant_id]),
      ...merchantIdsIn(request.event, request.data),
    ]);
    const [clients, merchants] = await Promise.all([
      this.clients.findAll(requests.map(({ client_id: id }) => id)),
      this.merchants.byIds([...new Set(merchantIds)]),
    ]);
    return { clients, merchants };
  }
}

const EVENT_TOO_LARGE = `The event must not be larger than ${MAX_EVENT_BYTES} bytes.`;

async function readEvents(
  events: readonly unknown[],
  now: Date,
): Promise<(PublishEventRequest | ApiError)[]> {
  const requests: (PublishEventRequest | ApiError)[] = [];
  for (const event of events) {
    requests.push(resultOrError(() => readEvent(event, now)));
    if (requests.length % EVENTS_PER_TURN === 0) await nextTurn();
  }
  return requests;
}

function readEvent(event: unknown, now: Date): PublishEventRequest {
  // `JsonOrLinesBodyGuard` puts an `ApiError` in place of an invalid line.
  if (event instanceof ApiError) throw event;
  if (!isObject(event)) throw INVALID_FIELD.error('The event must be a JSON object.');
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES)
    throw PAYLOAD_TOO_LARGE.error(EVENT_TOO_LARGE);
  const request = validated(PublishEventRequest, event);
  validateEventFields(request, now);
  return request;
}

/** @throws ApiError if the client or a merchant does not exist. The statement that publishes looks up the session */
function toPublishRequest(request: PublishEventRequest, { clients, merchants }: References): PublishRequest {
  const client = API_CLIENT_NOT_FOUND.requireFound(clients.get(request.client_id));
  const merchant = request.merchant_id === undefined ? undefined : merchants.get(request.merchant_id);
  if (request.merchant_id !== undefined && !merchant) throw MERCHANT_NOT_FOUND.error();
  const named = merchantIdsIn(request.event, request.data);
  requireMerchants(named, merchants, merchantsFieldOf(request.event));
  const {
    idempotency_key: key,
    event,
    task_id: taskId,
    external_user_id: externalUserId,
    metadata,
  } = request;
  const sessionId = request.session_id?.toLowerCase();
  const fields = Object.keys(EVENTS[event].data.shape);
  // Without the fields that the service does not know.
  const data = Object.fromEntries(fields.map((field) => [field, request.data?.[field]]));
  const session = metadata ? 'required' : 'attached';
  return {
    client: { clientId: client.clientId, environment: client.environment },
    event: { event, sessionId, taskId, externalUserId, merchant, data, metadata } as unknown as AnyEvent,
    timestamp: request.timestamp,
    session: sessionId === undefined ? undefined : session,
    idempotency:
      key === undefined
        ? undefined
        : {
            key,
            // Requests with the same content may differ in the letter case of UUIDs, in unknown fields of `data`, and in their time, which
            // version 0.3.0 ignores.
            contentHash: contentHash({
              ...request,
              idempotency_key: undefined,
              timestamp: undefined,
              client_id: request.client_id.toLowerCase(),
              session_id: sessionId,
              data: fields.length === 0 ? undefined : data,
            }),
          },
  };
}

function resultOrError<Result>(work: () => Result): Result | ApiError {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function withoutErrors<Item>(items: readonly (Item | ApiError)[]): Item[] {
  return items.filter((item): item is Item => !(item instanceof ApiError));
}

/** Fields that only some events have. */
const CONDITIONAL_FIELDS = ['external_user_id', 'session_id', 'task_id', 'merchant_id'] as const;

/**
 * Checks that the request has the fields of its event, and no others.
 *
 * @throws ApiError INVALID_FIELD for the first problem in the order of the fields
 */
function validateEventFields(request: PublishEventRequest, now: Date): void {
  const { event } = request;
  const expected = new Set<string>(conditionalFieldsOf(event));
  for (const field of CONDITIONAL_FIELDS) {
    const name = field.replaceAll('_', ' ');
    const isPresent = request[field] !== undefined;
    if (expected.has(field) && !isPresent)
      throw INVALID_FIELD.error(`The ${name} field is required when the event is ${event}.`);
    if (!expected.has(field) && isPresent) throw notAllowed(name, event);
  }
  if (request.metadata !== undefined && EVENTS[event].variant !== 'session')
    throw notAllowed('metadata', event);
  const problem = validateData(event, request.data ?? {});
  if (problem !== undefined) throw INVALID_FIELD.error(problem);
  requireEventTime(request.timestamp, now);
}

function notAllowed(field: string, event: EventName): ApiError {
  return INVALID_FIELD.error(`The ${field} field must not be present when the event is ${event}.`);
}
