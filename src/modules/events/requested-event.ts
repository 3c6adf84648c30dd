import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import {
  ENVELOPES,
  EVENTS,
  validateData,
  type AnyEvent,
  type EventMerchant,
  type EventName,
} from '../webhooks/index.js';
import type { PublishEventRequest } from './events.dto.js';

/** Fields that only some events have. */
const CONDITIONAL_FIELDS = ['external_user_id', 'session_id', 'task_id', 'merchant_id'] as const;

/**
 * Checks that the request has the fields of its event, and no others.
 *
 * @throws ApiError INVALID_FIELD for the first problem in the order of the fields
 */
export function requireFieldsOf(request: PublishEventRequest): void {
  const problem = problemOfFields(request) ?? validateData(request.event, request.data ?? {});
  if (problem !== undefined) throw INVALID_FIELD.error(problem);
}

function problemOfFields(request: PublishEventRequest): string | undefined {
  const { event } = request;
  const expected = fieldsOf(event);
  for (const field of CONDITIONAL_FIELDS) {
    const name = field.replaceAll('_', ' ');
    const isPresent = request[field] !== undefined;
    if (expected.has(field) && !isPresent) return `The ${name} field is required when the event is ${event}.`;
    if (!expected.has(field) && isPresent)
      return `The ${name} field must not be present when the event is ${event}.`;
  }
  return request.metadata !== undefined && EVENTS[event].variant !== 'session'
    ? `The metadata field must not be present when the event is ${event}.`
    : undefined;
}

function fieldsOf(event: EventName): ReadonlySet<string> {
  const names = Object.keys(ENVELOPES[EVENTS[event].variant]);
  return new Set(names.map((name) => (name === 'merchant' ? 'merchant_id' : name)));
}

/** Returns the event of a valid request. Unknown fields of its `data` are left out. */
export function requestedEvent(
  request: PublishEventRequest,
  merchant: EventMerchant | undefined,
  metadata: PublishEventRequest['metadata'],
): AnyEvent {
  const { event, task_id: taskId, external_user_id: externalUserId } = request;
  const sessionId = request.session_id?.toLowerCase();
  const data = dataOf(request);
  return { event, sessionId, taskId, externalUserId, merchant, data, metadata } as unknown as AnyEvent;
}

function dataOf({ event, data }: PublishEventRequest): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(EVENTS[event].data.shape).map((field) => [field, data?.[field]]));
}

/** Returns what decides whether two valid requests are for the same event, whatever their spelling. */
export function contentOf({ idempotency_key: _key, ...request }: PublishEventRequest): object {
  const data = dataOf(request);
  return {
    ...request,
    client_id: request.client_id.toLowerCase(),
    session_id: request.session_id?.toLowerCase(),
    data: Object.keys(data).length === 0 ? undefined : data,
  };
}
