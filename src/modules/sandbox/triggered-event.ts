import {
  EVENTS,
  exampleEvent,
  type AnyEvent,
  type EventMerchant,
  type EventName,
  type SessionMetadata,
} from '../webhooks/index.js';

/** What shall be other than in the example; undefined where nothing is said. */
export interface Changes {
  readonly sessionId: string | undefined;
  readonly taskId: number;
  readonly externalUserId: string | undefined;
  readonly merchant: EventMerchant | undefined;
  readonly data: object;
  readonly metadata: SessionMetadata | undefined;
}

/** The example of the event with the changes; those of fields that it does not have are left out. */
export function triggeredEvent(name: EventName, changes: Changes): AnyEvent {
  const told = Object.entries(exampleEvent(name)).map(([field, example]) => [
    field,
    changes[field as keyof Changes] ?? (example as unknown),
  ]);
  return Object.fromEntries(told) as AnyEvent;
}

/** The `data` of the example with what the caller says of its fields. */
export function triggeredData(name: EventName, told: Readonly<Record<string, unknown>>): object {
  const { example } = EVENTS[name].data;
  const fields = Object.keys(example).filter((field) => Object.hasOwn(told, field));
  return { ...example, ...Object.fromEntries(fields.map((field) => [field, told[field]])) };
}
