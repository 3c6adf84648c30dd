import type { SchemaObject } from '@nestjs/swagger';
import { eventBody } from './event-body.js';
import { EVENTS, type AnyEvent, type EventName } from './event-catalog.js';
import { ENVELOPES, EXAMPLE_FIELDS, SESSION_METADATA } from './event-envelope.js';
import { integer, object, word } from './shape.js';

const EXAMPLE_TIME = 1_710_864_923_198;
const TIMESTAMP = integer('When the event happened, in milliseconds since the Unix epoch.', EXAMPLE_TIME);

/** Returns the JSON Schema of the payload. It allows additional fields, because fields may be added later. */
export function eventSchema(name: EventName): SchemaObject {
  const { variant, data } = EVENTS[name];
  const { schema } = object(
    {
      event: word([name], 'The name of the event.', name),
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

/** Returns an example event with all fields that its name allows. */
export function exampleEvent<Name extends EventName>(name: Name): AnyEvent & { readonly event: Name } {
  const { variant, data } = EVENTS[name];
  return { event: name, ...EXAMPLE_FIELDS[variant], data: data.example } as AnyEvent & {
    readonly event: Name;
  };
}

/** Returns the payload of the example event, as it is sent. */
export function examplePayload(name: EventName): Readonly<Record<string, unknown>> {
  return JSON.parse(eventBody(exampleEvent(name), EXAMPLE_TIME).toString()) as Record<string, unknown>;
}
