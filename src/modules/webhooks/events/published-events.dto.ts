import {
  EnumField,
  ExternalUserIdField,
  Field,
  TimestampField,
} from '../../../infrastructure/validation/index.js';
import { EVENT_NAME, type EventName } from './event-catalog.js';

const FILTER = { in: 'query', required: false } as const;

/** The filters of the page that lists events. */
export class ListEventsQuery {
  @EnumField(EVENT_NAME, { ...FILTER, description: 'Only events of this name.', example: 'CARD_UPDATED' })
  event?: EventName;

  @ExternalUserIdField(FILTER)
  external_user_id?: string;

  @TimestampField({
    ...FILTER,
    description: 'Only events published at or after this time.',
    example: '2026-01-31T00:00:00Z',
  })
  start?: string;

  @TimestampField({
    ...FILTER,
    notBefore: 'start',
    description: 'Only events published at or before this time.',
    example: '2026-01-31T23:59:59Z',
  })
  end?: string;

  @Field({
    ...FILTER,
    schema: { type: String },
    description: 'The position of the page.',
    example: 'AVmXo2uFyR7Q1dJ0c3hKp1tb',
  })
  cursor?: string;
}
