import type { EventName, EventOf } from './event-catalogue.js';
import type { FieldsOfVariant } from './event-envelope.js';

/** All that an event may have; what its variant does not have is undefined and left out of the JSON. */
type Told = Partial<FieldsOfVariant['session']> & { readonly event: string; readonly data: object };

/**
 * The bytes that receivers get and signatures cover, with the fields in the order of the specification's example.
 * They are made once, when the event is published: a retry sends the same.
 */
export function eventBody<Name extends EventName>(
  event: EventOf<Name>,
  timestampMilliseconds: number,
): Buffer {
  const { sessionId, taskId, externalUserId, merchant, data, metadata }: Told = event;
  const isAttached = metadata !== undefined && Object.keys(metadata).length > 0;
  const payload = {
    event: event.event,
    session_id: sessionId,
    task_id: taskId,
    external_user_id: externalUserId,
    merchant: merchant && { id: merchant.id, name: merchant.name },
    data: { ...data, ...(isAttached && { metadata }) },
    timestamp: Math.floor(timestampMilliseconds),
  };
  return Buffer.from(JSON.stringify(payload));
}
