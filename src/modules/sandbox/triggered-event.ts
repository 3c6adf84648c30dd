import {
  EVENTS,
  type AnyEvent,
  type EventMerchant,
  type EventName,
  type SessionMetadata,
} from '../../infrastructure/event-catalog/index.js';
import { exampleEvent } from '../webhooks/index.js';

/** Values that replace those of the example event; undefined keeps the example's. */
export interface Changes {
  readonly sessionId: string | undefined;
  readonly taskId: number;
  readonly externalUserId: string | undefined;
  readonly merchant: EventMerchant | undefined;
  readonly data: object;
  readonly metadata: SessionMetadata | undefined;
}

/**
 * Returns the example event with the changes. Changes to fields that the event lacks are ignored. The examples are
 * part of the event catalog of the webhooks module (`webhooks/events`).
 */
export function triggeredEvent(name: EventName, changes: Changes): AnyEvent {
  const fields = Object.entries(exampleEvent(name)).map(([field, example]) => [
    field,
    changes[field as keyof Changes] ?? (example as unknown),
  ]);
  return Object.fromEntries(fields) as AnyEvent;
}

/** Returns the example's `data` with the values of the request. Unknown fields are ignored. */
export function triggeredData(name: EventName, requested: Readonly<Record<string, unknown>>): object {
  const { example } = EVENTS[name];
  const fields = Object.keys(example).filter((field) => Object.hasOwn(requested, field));
  return { ...example, ...Object.fromEntries(fields.map((field) => [field, requested[field]])) };
}
