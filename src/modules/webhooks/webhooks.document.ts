import type { OpenAPIObject, SchemaObject } from '@nestjs/swagger';
import { EVENT_NAMES, EVENTS, type EventName } from '../../infrastructure/event-catalog/index.js';
import type { Components, WebhookDocuments } from '../../infrastructure/openapi/index.js';
import { MAX_INT32, namedSchema, type SchemaReference } from '../../infrastructure/schemas/index.js';
import { eventSchema, examplePayload, schemaNameOf } from './events/event-document.js';
import { deliveryHeaders } from './signing/delivery-headers.js';

type PathItem = NonNullable<OpenAPIObject['webhooks']>[string];

/** Returns the parts of the API document that describe webhook requests: one for each event, and one for all. */
export function webhookDocuments(components: Components): WebhookDocuments {
  return {
    webhooks: Object.fromEntries(EVENT_NAMES.map((name) => [name, webhookOf(name, components)])),
    callbacks: { createWebhookEndpoint: { event: { '{$request.body#/url}': callback(components) } } },
  };
}

/** Some generators read only callbacks, and drop the schemas that nothing else uses. */
function callback(components: Components): PathItem {
  const events = EVENT_NAMES.map(
    (name) => [name, namedSchema(schemaNameOf(name), eventSchema(name))] as const,
  );
  const schema = namedSchema('WebhookEvent', {
    oneOf: events.map(([, reference]) => reference),
    discriminator: {
      propertyName: 'event',
      mapping: Object.fromEntries(events.map(([name, { $ref }]) => [name, $ref])),
    },
    description: 'The body of a webhook. `event` names its type.',
  });
  const request = requestOf({
    operationId: 'receiveWebhook',
    summary: 'Event',
    description: 'Each event is sent to the endpoint as a webhook.',
    schema,
    example: examplePayload(EXAMPLE_EVENT),
    components,
  });
  const responses = { ...request.post?.responses, '4XX': request.post?.responses['default'] };
  return { post: { ...request.post, responses } } as PathItem;
}

/** The event whose headers are the examples. */
const EXAMPLE_EVENT = 'CARD_UPDATED';

const DELIVERY =
  'Respond with 200 within 10 seconds. After any other status, including 201 and 204, or without a response, the ' +
  'service sends the event up to two more times, a few minutes apart. Events can arrive more than once and in any ' +
  'order; detect duplicates by `webhook-id`. Verify the signature before you process the event.';

function webhookOf(name: EventName, components: Components): PathItem {
  return requestOf({
    operationId: `receive${schemaNameOf(name)}`,
    // `CARD_UPDATED` -> `Card updated`
    summary: name.charAt(0) + name.slice(1).replaceAll('_', ' ').toLowerCase(),
    description: EVENTS[name].description,
    schema: namedSchema(schemaNameOf(name), eventSchema(name)),
    example: examplePayload(name),
    components,
  });
}

interface WebhookRequest {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: SchemaReference;
  readonly example: object;
  readonly components: Components;
}

function requestOf({ schema, example, components, ...document }: WebhookRequest): PathItem {
  return {
    post: {
      tags: ['Webhooks'],
      ...document,
      security: [],
      parameters: headersOf(EXAMPLE_EVENT, components),
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses: {
        200: components.add('responses', 'WebhookReceived', {
          description: `The event was received and is not sent again. The response body is ignored. ${DELIVERY}`,
        }),
        default: components.add('responses', 'WebhookNotReceived', {
          description:
            'The event was not received: after any other status, including 201 and 204, the service sends it again.',
        }),
      },
    },
  };
}

/** One signature of `webhook-signature`: an HMAC of 32 bytes, or an Ed25519 signature of 64. */
const SIGNATURE = '(?:v1,[A-Za-z0-9+/]{43}=|v1a,[A-Za-z0-9+/]{86}==)';

/** Without Content-Type, which OpenAPI describes as the type of the body. */
const HEADERS: Readonly<Record<string, { readonly description: string; readonly schema: SchemaObject }>> = {
  'Content-Length': {
    description: 'Size of the body in bytes.',
    schema: { type: 'integer', minimum: 2, maximum: MAX_INT32 },
  },
  'Encryption-Type': {
    description: 'The algorithm of `Service-Signature`.',
    schema: { type: 'string', const: 'HMAC-SHA256' } as SchemaObject,
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
    schema: { type: 'integer', format: 'int64' },
  },
  'webhook-signature': {
    description:
      'As in the Standard Webhooks specification: `v1,` followed by the HMAC-SHA256, or `v1a,` followed by the Ed25519 ' +
      'signature, in base64, of `<webhook-id>.<webhook-timestamp>.<body>`. The `signing` of the endpoint says which key makes ' +
      'it: `client`, the UTF-8 text of your client secret; `hmac`, the secret of the endpoint, whose bytes are encoded in base64 ' +
      'after `whsec_`; `ed25519`, the private key that belongs to the `public_key` of the endpoint. During a rotation, there are ' +
      'several signatures, separated by a space.',
    schema: { type: 'string', pattern: `^${SIGNATURE}(?: ${SIGNATURE})*$` },
  },
};

/** Not a real secret: its checksum is wrong. */
const EXAMPLE_SECRET = 'mcs_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';

/** Returns the headers, with the values that the service would send with the example payload of an event. */
function headersOf(event: EventName, components: Components): { readonly $ref: string }[] {
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
    const component = `Webhook${name.replace(/^webhook-/, '').replaceAll(/(?:^|-)(.)/g, (_, first: string) => first.toUpperCase())}`;
    const parameter = { name, in: 'header', required: true, description, schema, example };
    return components.add('parameters', component, parameter);
  });
}
