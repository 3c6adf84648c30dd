import type { SchemaObject } from '@nestjs/swagger';
import { z } from 'zod';
import {
  conditionalFieldsOf,
  ENVELOPES,
  EVENT_NAMES,
  EVENTS,
  type AnyEvent,
  type EventName,
  type FieldsOfVariant,
  SESSION_METADATA,
} from '../../../infrastructure/event-catalog/index.js';
import type { BodyVariants } from '../../../infrastructure/openapi/index.js';
import { jsonSchemaOf, namedSchema } from '../../../infrastructure/schemas/index.js';
import { eventBody } from './event-body.js';

const EXAMPLE_TIME = 1_710_864_923_198;

/** `CARD_UPDATED` -> `CardUpdated` */
function typeNameOf(name: EventName): string {
  const words = name.toLowerCase().split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** `CARD_UPDATED` -> `CardUpdatedWebhook` */
export function schemaNameOf(name: EventName): string {
  return `${typeNameOf(name)}Webhook`;
}

/** The requests that publish an event: their fields depend on `event`. */
export const EVENT_VARIANTS: BodyVariants = {
  property: 'event',
  // When the document is built, all capabilities have added their events.
  get variants() {
    return EVENT_NAMES.map(variantOf);
  },
};

function variantOf(name: EventName): BodyVariants['variants'][number] {
  const { variant, data, description } = EVENTS[name];
  const hasData = Object.keys(data.shape).length > 0;
  return {
    value: name,
    schema: `Publish${typeNameOf(name)}Request`,
    description,
    required: ['client_id', 'event', ...conditionalFieldsOf(name), ...(hasData ? ['data'] : [])],
    optional: [
      ...(hasData ? [] : ['data']),
      ...(variant === 'session' ? ['metadata'] : []),
      'timestamp',
      'idempotency_key',
    ],
    properties: { ...(hasData && { data: dataReferenceOf(name) }) },
  };
}

/** The webhooks of a session have `data` of their own, with the metadata. */
function dataReferenceOf(name: EventName): SchemaObject {
  const { variant, data } = EVENTS[name];
  const schema = `${variant === 'session' ? typeNameOf(name) : schemaNameOf(name)}Data`;
  return { ...namedSchema(schema, jsonSchemaOf(data)), description: data.description } as SchemaObject;
}

const payloads = new Map<EventName, z.ZodObject>();

function payloadOf(name: EventName): z.ZodObject {
  const known = payloads.get(name);
  if (known) return known;
  const { variant, description } = EVENTS[name];
  const { data }: { readonly data: z.ZodObject } = EVENTS[name];
  const all = variant === 'session' ? data.extend({ metadata: SESSION_METADATA.optional() }) : data;
  const payload = z
    .object({
      event: z.literal(name).describe('The name of the event.'),
      ...ENVELOPES[variant],
      data: all.meta({ id: `${schemaNameOf(name)}Data`, description: data.description }),
      timestamp: z
        .int()
        .meta({ format: 'int64' })
        .describe('When the event happened, in milliseconds since the Unix epoch.'),
    })
    .describe(description);
  payloads.set(name, payload);
  return payload;
}

/** Returns the JSON Schema of the payload. It allows additional fields, because fields may be added later. */
export function eventSchema(name: EventName): SchemaObject {
  return jsonSchemaOf(payloadOf(name));
}

const SESSION: Required<FieldsOfVariant['session']> = {
  sessionId: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
  taskId: 25_605,
  externalUserId: 'user-8f3a',
  merchant: { id: 16, name: 'Netflix' },
  metadata: { trace_id: 't-1' },
};
const { externalUserId, merchant } = SESSION;
const EXAMPLE_FIELDS: FieldsOfVariant = {
  session: SESSION,
  userAndMerchant: { externalUserId, merchant },
  merchant: { merchant },
  user: { externalUserId },
};

/** Returns an example event with all fields that its name allows. */
export function exampleEvent<Name extends EventName>(name: Name): AnyEvent & { readonly event: Name } {
  const { variant, example } = EVENTS[name];
  return { event: name, ...EXAMPLE_FIELDS[variant], data: example } as unknown as AnyEvent & {
    readonly event: Name;
  };
}

/** Returns the payload of the example event, as it is sent. */
export function examplePayload(name: EventName): Readonly<Record<string, unknown>> {
  return JSON.parse(eventBody(exampleEvent(name), EXAMPLE_TIME).toString()) as Record<string, unknown>;
}
