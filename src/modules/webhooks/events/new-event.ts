import { randomUUID } from 'node:crypto';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { eventBody } from './event-body.js';
import type { EventName, EventOf } from './event-catalog.js';
import type { NewEvent } from './webhook-events.repository.js';

/** Fields that only some events have. */
interface Subject {
  readonly sessionId?: string;
  readonly taskId?: number;
  readonly externalUserId?: string;
}

/** Returns the event with an ID, as it is stored. */
export function newEvent<Name extends EventName>(
  { clientId, environment }: AttributedClient,
  event: EventOf<Name>,
  createdAt: Date,
): NewEvent {
  const { sessionId, taskId, externalUserId } = event as Subject;
  return {
    clientId,
    environment,
    id: randomUUID(),
    createdAt,
    name: event.event,
    sessionId: sessionId ?? null,
    taskId: taskId ?? null,
    externalUserId: externalUserId ?? null,
    body: eventBody(event, createdAt.getTime()),
    isTest: false,
  };
}
