import type { SchemaObject } from '@nestjs/swagger';
import { eventBody } from './event-body.js';
import { EVENTS, type AnyEvent, type EventName } from './event-catalogue.js';
import { ENVELOPES, EXAMPLE_FIELDS, SESSION_METADATA } from './event-envelope.js';
import { integer, object, word } from './shape.js';

const EXAMPLE_TIME = 1_710_864_923_198;
const TIMESTAMP = integer('Time of the event in milliseconds since the epoch.', EXAMPLE_TIME);

/** The JSON Schema of the payload. Fields may be added to it: it forbids none. */
export function eventSchema(name: EventName): SchemaObject {
  const { variant, data } = EVENTS[name];
  const { schema } = object(
    {
      event: word([name], 'Name of the event.', name),
      ...ENVELOPES[variant],
      data: { ...data, schema: variant === 'session' ? withMetadata(data.schema) : data.schema },
      timestamp: TIMESTAMP,
    },
    EVENTS[name].description,
  );
  return schema;
}

function withMetadata(data: SchemaObject): SchemaObject {
  return { ...data, properties: { ...data.properties, metadata: SESSION_METADATA.schema } };
}

/** An event of this name with every field that it may have. */
export function exampleEvent<Name extends EventName>(name: Name): AnyEvent & { readonly event: Name } {
  const { variant, data } = EVENTS[name];
  return { event: name, ...EXAMPLE_FIELDS[variant], data: data.example } as AnyEvent & {
    readonly event: Name;
  };
}

/** The payload of the example, as it is sent. */
export function examplePayload(name: EventName): Readonly<Record<string, unknown>> {
  return JSON.parse(eventBody(exampleEvent(name), EXAMPLE_TIME).toString()) as Record<string, unknown>;
}
