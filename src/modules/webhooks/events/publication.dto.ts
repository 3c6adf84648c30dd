import { sha256 } from '../../../infrastructure/crypto/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import {
  canonicalJson,
  IDEMPOTENCY_KEY_REUSED,
  KEY_SCHEMA,
  MAX_KEY_LENGTH,
} from '../../../infrastructure/idempotency/index.js';
import { BooleanProperty, UuidProperty } from '../../../infrastructure/openapi/index.js';
import {
  HasValidContents,
  isMissing,
  NOT_BLANK,
  TextField,
  IntegerField,
} from '../../../infrastructure/validation/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { SESSION_NOT_FOUND } from '../../sessions/index.js';
import type { PublishResult } from '../queue/publications.batch.js';

/** Milliseconds by which the clock of a publisher may be ahead of ours. */
const MAX_AHEAD = 5 * MINUTE;
/** 2001-09-09. A time in seconds is below. */
const EARLIEST = 1_000_000_000_000;
/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;

export const EVENT_IN_FUTURE = 'The timestamp field must not be more than 5 minutes in the future.';

/** The optional time of an event in a request that publishes it. */
export function EventTimestampField(): PropertyDecorator {
  return IntegerField({
    required: false,
    min: EARLIEST,
    max: LATEST,
    description:
      'When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the ' +
      'time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later ' +
      'time has changed.',
    example: 1_710_864_923_198,
  });
}

/**
 * Checks the time of an event in a request.
 *
 * @throws ApiError INVALID_FIELD if it is in the future
 */
export function requireEventTime(timestamp: number | undefined, now: Date): void {
  if (timestamp !== undefined && timestamp > now.getTime() + MAX_AHEAD)
    throw INVALID_FIELD.error(EVENT_IN_FUTURE);
}

/** The optional key of a request that publishes an event. */
export function IdempotencyKeyField(example: string): PropertyDecorator {
  return TextField(
    {
      required: false,
      // Without its key, an event would be published with every retry.
      keepsBlank: true,
      max: MAX_KEY_LENGTH,
      pattern: NOT_BLANK,
      description: 'Makes retries safe: an event with the same key and content is published once.',
      example,
    },
    HasValidContents((value, field) =>
      isMissing(value) ? `The ${field} field must not be blank.` : undefined,
    ),
  );
}

/** The header in the API document. */
export const EVENT_KEY_PARAMETER = {
  'Idempotency-Key': {
    component: 'EventKeyParameter',
    description: 'The `idempotency_key`, with or without quotation marks, instead of in the body.',
    schema: KEY_SCHEMA,
  },
};

const DIFFERENT_KEYS =
  'The Idempotency-Key header and the idempotency key field must not differ. Send one of them.';

/**
 * Returns the request with the key of its `Idempotency-Key` header, if it has one.
 *
 * @throws ApiError INVALID_FIELD if the body has another key
 */
export function withIdempotencyKey<Request extends { idempotency_key?: string }>(
  request: Request,
  header: string | undefined,
): Request {
  if (header === undefined) return request;
  if ((request.idempotency_key ?? header) !== header) throw INVALID_FIELD.error(DIFFERENT_KEYS);
  return Object.assign(request, { idempotency_key: header });
}

/** Returns a hash of the content of a request. It does not depend on the order of the fields. */
export function contentHash(content: object): Buffer {
  return sha256(canonicalJson(content));
}

/** Returns the response to a request whose event was published, or the error to throw. */
export function eventResponseOf(result: PublishResult | undefined): EventResponse | Error {
  if (result?.outcome === 'failed') return result.error;
  if (result?.outcome === 'session_not_found') return SESSION_NOT_FOUND.error();
  if (!result || result.outcome === 'conflict') return IDEMPOTENCY_KEY_REUSED.error();
  return { event_id: result.eventId, duplicate: result.outcome === 'duplicate' };
}

/** The response to a request that published an event. */
export class EventResponse {
  @UuidProperty('ID of the event: its `webhook-id` header.', '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1')
  event_id!: string;

  @BooleanProperty(
    'Whether the event had been published before with this key. Then `event_id` is its ID.',
    false,
  )
  duplicate!: boolean;
}
