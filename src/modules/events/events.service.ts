import { Injectable } from '@nestjs/common';
import { isObject } from 'class-validator';
import { BatchedStatement } from '../../infrastructure/database/index.js';
import { ApiError, INVALID_FIELD, PAYLOAD_TOO_LARGE } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { validated } from '../../infrastructure/validation/index.js';
import {
  conditionalFieldsOf,
  detectedMerchantIds,
  EVENTS,
  validateData,
  type AnyEvent,
  type EventMerchant,
  type EventName,
} from '../../infrastructure/event-catalog/index.js';
import { API_CLIENT_NOT_FOUND, ApiClientDirectory, type ClientRecord } from '../api-clients/index.js';
import { MERCHANT_NOT_FOUND, MerchantCatalogService, requireMerchants } from '../merchants/index.js';
import { SESSION_NOT_FOUND, SessionsRepository, type SessionDetails } from '../sessions/index.js';
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
  readonly sessions: ReadonlyMap<string, SessionDetails & { readonly clientId: string }>;
}

const EVENTS_PER_STATEMENT = 1_000;
const CONCURRENT_STATEMENTS = 1;
/** Milliseconds. Single events that arrive within this time share their statements, which saves CPU time (decision 0020). */
const INTERVAL = 16;
/** Number of waiting events that starts a statement before `INTERVAL` has passed. */
const EVENTS_THAT_SKIP_INTERVAL = 16;

/** Publishes the events of the platform's own services. */
@Injectable()
export class EventsService {
  /** Looks up the references of events together, and publishes them in one go, which `PublicationsBatch` may join with others. */
  private readonly singleEvents = new BatchedStatement<PublishEventRequest, EventResponse | Error>({
    execute: (requests) => this.publishAll(requests),
    maxRows: EVENTS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
    minInterval: INTERVAL,
    enoughRows: EVENTS_THAT_SKIP_INTERVAL,
  });

  constructor(
    private readonly clients: ApiClientDirectory,
    private readonly merchants: MerchantCatalogService,
    private readonly sessions: SessionsRepository,
    private readonly publisher: WebhookPublisher,
    private readonly clock: Clock,
  ) {}

  /** Returns after the commit. */
  async publish(request: PublishEventRequest): Promise<EventResponse> {
    validateEventFields(request, this.clock.now());
    const result = await this.singleEvents.add(request);
    if (result instanceof Error) throw result;
    return result;
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
    const now = this.clock.now();
    const requests = events.map((event) => resultOrError(() => readEvent(event, now)));
    const results = await this.publishAll(requests);
    return {
      results: results.map((result) => {
        if (result instanceof ApiError) return { event_id: null, duplicate: false, error: result.body };
        if (result instanceof Error) throw result;
        return { ...result, error: null };
      }),
    };
  }

  /**
   * Publishes the events, with a constant number of statements.
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
      ...detectedMerchantIds(request.event, request.data),
    ]);
    const sessionIds = requests.flatMap(({ session_id: id }) => id?.toLowerCase() ?? []);
    const [clients, merchants, sessions] = await Promise.all([
      this.clients.findAll(requests.map(({ client_id: id }) => id)),
      this.merchants.byIds([...new Set(merchantIds)]),
      this.sessions.detailsById([...new Set(sessionIds)]),
    ]);
    return { clients, merchants, sessions };
  }
}

const EVENT_TOO_LARGE = `The event must not be larger than ${MAX_EVENT_BYTES} bytes.`;

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

/** @throws ApiError if the client, session or merchant does not exist, or the session does not belong to this client and user */
function toPublishRequest(
  request: PublishEventRequest,
  { clients, merchants, sessions }: References,
): PublishRequest {
  const client = API_CLIENT_NOT_FOUND.unlessFound(clients.get(request.client_id));
  const session = sessions.get(request.session_id?.toLowerCase() ?? '');
  const belongsToUser =
    session?.clientId === client.clientId && session.externalUserId === request.external_user_id;
  if (request.session_id !== undefined && !belongsToUser) throw SESSION_NOT_FOUND.error();
  const merchant = request.merchant_id === undefined ? undefined : merchants.get(request.merchant_id);
  if (request.merchant_id !== undefined && !merchant) throw MERCHANT_NOT_FOUND.error();
  requireMerchants(detectedMerchantIds(request.event, request.data), merchants, 'data.detected accounts');
  const { idempotency_key: key, event, task_id: taskId, external_user_id: externalUserId } = request;
  const sessionId = request.session_id?.toLowerCase();
  const fields = Object.keys(EVENTS[event].data.shape);
  // Without the fields that the service does not know.
  const data = Object.fromEntries(fields.map((field) => [field, request.data?.[field]]));
  const metadata = request.metadata ?? session?.metadata;
  return {
    client: { clientId: client.clientId, environment: client.environment },
    event: { event, sessionId, taskId, externalUserId, merchant, data, metadata } as unknown as AnyEvent,
    timestamp: request.timestamp,
    idempotency:
      key === undefined
        ? undefined
        : {
            key,
            // Requests with the same content may differ in the letter case of UUIDs and in unknown fields of `data`.
            contentHash: contentHash({
              ...request,
              idempotency_key: undefined,
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
