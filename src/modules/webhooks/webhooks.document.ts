import type { OpenAPIObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import type { WebhookDocuments } from '../../infrastructure/openapi/index.js';
import { EVENT_NAMES, EVENTS, type EventName } from './events/event-catalog.js';
import { eventSchema, examplePayload } from './events/event-document.js';
import { deliveryHeaders } from './signing/delivery-headers.js';

type PathItem = NonNullable<OpenAPIObject['webhooks']>[string];

/** Returns the parts of the API document that describe webhook requests, one for each event. */
export function webhookDocuments(): WebhookDocuments {
  return {
    webhooks: Object.fromEntries(EVENT_NAMES.map((name) => [name, webhookOf(name)])),
    schemas: Object.fromEntries(EVENT_NAMES.map((name) => [schemaNameOf(name), eventSchema(name)])),
  };
}

/** `CARD_UPDATED` -> `CardUpdatedWebhook` */
const schemaNameOf = (name: EventName): string => `${name.split('_').map(capitalized).join('')}Webhook`;
/** `CARD_UPDATED` -> `Card updated` */
const titleOf = (name: EventName): string => capitalized(name.replaceAll('_', ' '));

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
}

const DELIVERY =
  'Respond with 200 within 10 seconds. After any other status, including 201 and 204, or without a response, the ' +
  'service sends the event up to two more times, a few minutes apart. Events can arrive more than once and in any ' +
  'order; detect duplicates by `webhook-id`. Verify the signature before you process the event.';

function webhookOf(name: EventName): PathItem {
  const schemaName = schemaNameOf(name);
  return {
    post: {
      operationId: `receive${schemaName}`,
      summary: titleOf(name),
      description: `${EVENTS[name].description}\n\n${DELIVERY}`,
      security: [],
      parameters: headersOf(name),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: `#/components/schemas/${schemaName}` },
            example: examplePayload(name),
          },
        },
      },
      responses: {
        200: {
          description: 'The event was received and is not sent again. The response body is ignored.',
        },
        default: {
          description:
            'The event was not received: after any other status, including 201 and 204, the service sends it again.',
        },
      },
    },
  };
}

/** Without Content-Type, which OpenAPI describes as the type of the body. */
const HEADERS: Readonly<Record<string, { readonly description: string; readonly schema: SchemaObject }>> = {
  'Content-Length': { description: 'Size of the body in bytes.', schema: { type: 'integer', minimum: 2 } },
  'Encryption-Type': {
    description: 'The algorithm of `Service-Signature`.',
    schema: { type: 'string', enum: ['HMAC-SHA256'] },
  },
  'Service-Signature': {
    description:
      'The HMAC-SHA256, in base64, of `Content-Length|<n>|Content-Type|application/json|' +
      'Encryption-Type|HMAC-SHA256|event|<event>|session_id|<session_id>` with your client secret as the key; without ' +
      'the last two parts if the body has no `session_id`. It covers neither the time nor the content of the body: ' +
      'verify `webhook-signature` too.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$' },
  },
  'User-Agent': { description: 'The name of the service.', schema: { type: 'string' } },
  'webhook-id': {
    description:
      'ID of the event, the same in every attempt. Skip events whose ID you have already processed.',
    schema: { type: 'string', format: 'uuid' },
  },
  'webhook-timestamp': {
    description:
      'When this attempt was made, in seconds since the Unix epoch. Reject attempts older than 5 minutes.',
    schema: { type: 'integer' },
  },
  'webhook-signature': {
    description:
      'As in the Standard Webhooks specification: `v1,` followed by the HMAC-SHA256, in base64, of ' +
      '`<webhook-id>.<webhook-timestamp>.<body>`. The key is the UTF-8 text of your client secret. ' +
      'While two secrets are valid, there are two signatures, separated by a space.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=(?: v1,[A-Za-z0-9+/]{43}=)*$' },
  },
};

/** Not a real secret: its checksum is wrong. */
const EXAMPLE_SECRET = 'mcs_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';

/** Returns the headers with the values that the service would send with the example payload. */
function headersOf(event: EventName): ParameterObject[] {
  const payload = examplePayload(event);
  const sent = deliveryHeaders({
    eventId: '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
    event,
    ...('session_id' in payload && { sessionId: String(payload['session_id']) }),
    body: Buffer.from(JSON.stringify(payload)),
    now: new Date(Number(payload['timestamp'])),
    secret: EXAMPLE_SECRET,
  });
  return Object.entries(HEADERS).map(([name, { description, schema }]) => {
    const value = sent[name] ?? '';
    const example = schema.type === 'integer' ? Number(value) : value;
    return { name, in: 'header', required: true, description, schema, example };
  });
}
