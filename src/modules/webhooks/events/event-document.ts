import type { SchemaObject } from '@nestjs/swagger';
import { eventBody } from './event-body.js';
import { EVENTS, type AnyEvent, type EventName } from './event-catalog.js';
import { ENVELOPES, EXAMPLE_FIELDS } from './event-envelope.js';
import { SESSION_METADATA } from './session-metadata.js';
import { constant, integer, named, object, type Shape } from './shape.js';

const EXAMPLE_TIME = 1_710_864_923_198;
const TIMESTAMP = integer('When the event happened, in milliseconds since the Unix epoch.', EXAMPLE_TIME);

/** `CARD_UPDATED` -> `CardUpdatedWebhook` */
export function schemaNameOf(name: EventName): string {
  const words = name.toLowerCase().split('_');
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Webhook`;
}

/** Returns the JSON Schema of the payload. It allows additional fields, because fields may be added later. */
export function eventSchema(name: EventName): SchemaObject {
  const { variant, data } = EVENTS[name];
  const { schema } = object(
    {
      event: constant(name, 'The name of the event.'),
      ...ENVELOPES[variant],
      data: named(`${schemaNameOf(name)}Data`, variant === 'session' ? withMetadata(data) : data),
      timestamp: TIMESTAMP,
    },
    EVENTS[name].description,
  );
  return schema;
}

function withMetadata({ schema, ...data }: Shape<object>): Shape<object> {
  const properties = { ...schema.properties, metadata: SESSION_METADATA.schema };
  return { ...data, schema: { ...schema, properties } };
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
