import { randomUUID } from 'node:crypto';
import type { EventName, EventOf, FieldsOfVariant } from '../../../infrastructure/event-catalog/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import type { NewEvent } from '../webhook-event.js';

/** All fields that an event can have. Fields that its variant lacks are undefined and left out of the JSON. */
type Fields = Partial<FieldsOfVariant['session']> & { readonly event: string; readonly data: object };

/**
 * Returns the bytes that are signed and sent, with the fields in the order of the specification's example. They are
 * built once, when the event is published, and every attempt sends the same bytes.
 */
export function eventBody<Name extends EventName>(
  event: EventOf<Name>,
  timestampMilliseconds: number,
): Buffer {
  const { sessionId, taskId, externalUserId, merchant, data, metadata }: Fields = event;
  const hasMetadata = metadata !== undefined && Object.keys(metadata).length > 0;
  const payload = {
    event: event.event,
    session_id: sessionId,
    task_id: taskId,
    external_user_id: externalUserId,
    merchant: merchant && { id: merchant.id, name: merchant.name },
    data: { ...data, ...(hasMetadata && { metadata }) },
    timestamp: Math.floor(timestampMilliseconds),
  };
  return Buffer.from(JSON.stringify(payload));
}

/**
 * Returns the event with an ID, as it is stored.
 *
 * @param occurredAt when it happened; the default is when it is published
 */
export function newEvent<Name extends EventName>(
  { clientId, environment }: AttributedClient,
  event: EventOf<Name>,
  createdAt: Date,
  occurredAt: Date = createdAt,
): NewEvent {
  const { sessionId, taskId, externalUserId, merchant } = event as Partial<FieldsOfVariant['session']>;
  return {
    clientId,
    environment,
    id: randomUUID(),
    createdAt,
    occurredAt,
    name: event.event,
    sessionId: sessionId ?? null,
    taskId: taskId ?? null,
    externalUserId: externalUserId ?? null,
    merchantId: merchant?.id ?? null,
    body: eventBody(event, occurredAt.getTime()),
    isTest: false,
  };
}
