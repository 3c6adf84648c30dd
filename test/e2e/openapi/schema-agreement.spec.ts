import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { NOT_BLANK } from '../../../src/infrastructure/validation/index.js';
import { EVENT_NAMES } from '../../../src/infrastructure/event-catalog/index.js';
import { exampleEvent } from '../../../src/modules/webhooks/index.js';
import {
  enableIdentification,
  BODY_OPERATIONS,
  DASHBOARD_OPERATIONS,
  INTERNAL_OPERATIONS,
  SESSION_OPERATIONS,
  UNKNOWN_ID,
  type TestedOperation,
} from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { useTestApp, useLogin } from '../../support/test-app.js';

/*
 * A body that the API document allows is not refused with 400, and one that it does not allow is. The bodies are valid
 * ones in which some fields are absent or have other values.
 */

const RUNS = { numRuns: 60, interruptAfterTimeLimit: 15_000 };

/** Messages about what schemas do not express: the content of a text, and what is stored. */
const BEYOND_SCHEMAS = [
  /must be a valid (?:email address|http or https URL)\.$/,
  /must be an https URL/,
  /must be a public https? URL/,
  /must be a public URL/,
  /^The phone number must be a valid number in a supported country\./,
  /^The image field must be (?:base64|a PNG, JPEG or WebP image)\.$/,
  /must be a domain name such as/,
  /^The metadata_?.* (?:XML|metadata|identity provider|certificate|signing)/i,
  /^The selected event id is invalid\.$/,
  /(?:is|are|been) (?:already|taken)|already (?:been|has)|has been (?:added|invited)|at most \d+ |allowlisted domains/i,
  /must not contain null characters or unpaired surrogates/,
  /when the event is /,
  /required if the proof is phone, and not allowed otherwise\.$/,
  /^The endpoint has no key of its own\./,
  /^The data\./,
  /is not known\. Did you mean/,
];

interface Schema {
  readonly required?: string[];
  readonly properties: Record<string, { readonly $ref?: string; readonly pattern?: string }>;
  readonly discriminator?: { readonly mapping: Record<string, string> };
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;
  };
}
const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
  };
};
const documented = Object.values(document.paths).flatMap((path) => Object.values(path));
const ajv = new Ajv2020({ strict: false, validateSchema: false });
(formats as unknown as (instance: Ajv2020) => void)(ajv);
ajv.addSchema(document, 'document');

/** Returns the schema that a reference names: if there is one for each event, that of the event. */
function schemaOf($ref = '', event?: unknown): Schema {
  const schema = document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? { properties: {} };
  return schema.discriminator ? schemaOf(schema.discriminator.mapping[String(event)]) : schema;
}

const service = useTestApp({
  MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000',
  APPLICATIONS_PER_HOUR: '1000000',
  SESSION_OPENS_PER_MINUTE: '1000000',
});
const owner = useLogin(service, 'owner');
let serviceToken: string;
let endpointId: string;

beforeAll(async () => {
  ({ token: serviceToken } = await issueServiceToken(service));
  await enableIdentification(service);
  const body = { environment: 'production', url: 'https://existing.example.com/' };
  const endpoint = await service.request('/webhook-endpoints/create', { body, login: owner });
  endpointId = String(endpoint.body['id']);
});

/** Its events are refused one by one, in the response. */
const BATCH = 'publishEvents';

const TESTED: readonly TestedOperation[] = [
  ...BODY_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...INTERNAL_OPERATIONS.filter(({ id }) => id !== BATCH),
  ...DASHBOARD_OPERATIONS.filter(({ body }) => body !== undefined),
];

/** These operations look for the endpoint before they check the content of the body. */
const OF_ENDPOINT = ['updateWebhookEndpoint', 'redeliverWebhook', 'rotateWebhookEndpointKey'];

async function send({ id, path, method, credentials }: TestedOperation, body: object | undefined) {
  const realPath = OF_ENDPOINT.includes(id) ? path.replace(UNKNOWN_ID, endpointId) : path;
  const response = await service.request(realPath, {
    method: method ?? 'POST',
    ...(body && { body }),
    ...(credentials === 'basic' && { as: service.development }),
    ...(credentials === 'login' && { login: owner }),
    ...(credentials === 'service' && { token: serviceToken }),
  });
  const message = String(response.body['error_message'] ?? '');
  if (typeof response.body['token'] === 'string') rememberSecret(response.body['token']);
  expect(response.status).toBeLessThan(500);
  return { status: response.status, message };
}

/** Values that differ in type, length and size from valid ones. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    -1,
    0.5,
    16,
    59,
    60,
    300,
    3600,
    604_801,
    2_592_001,
    2 ** 31,
    2 ** 53,
  ),
  fc.constantFrom('', ' ', 'a', '1', 'x'.repeat(256), 'x'.repeat(257), '😀'.repeat(256), 'y'.repeat(2_100)),
  fc.constantFrom(
    'production',
    'development',
    'owner',
    'link',
    'card_switcher',
    'CARD_UPDATED',
    'UP',
    'paused',
  ),
  fc.constantFrom('ada@example.com', '+12125550123', '2026-01-31T08:15:30+00:00', '2026-02-31T08:15:30Z'),
  fc.constantFrom(
    'https://example.com/a',
    'http://example.com/',
    'ftp://example.com/',
    'HTTPS://example.com',
  ),
  fc.constantFrom<unknown>(
    [],
    {},
    [''],
    ['Netflix'],
    [16],
    [0],
    [1.5],
    [null],
    ['Netflix', 'x'.repeat(257)],
    { a: 'b' },
  ),
  fc.constantFrom<unknown>(
    { a: 1 },
    { a: 'x'.repeat(501) },
    Object.fromEntries([...'abcdefghijk'].map((key) => [key, key])),
  ),
  fc.uuid(),
  fc.uuid({ version: [1, 4, 7] }),
  fc.constant('ffffffff-ffff-0fff-0fff-ffffffffffff'),
  fc.string({ maxLength: 20 }),
  fc.integer(),
);

describe.each(TESTED.map((operation) => [operation.id, operation] as const))(
  'The body of %s',
  (id, operation) => {
    const { requestBody } = documented.find(({ operationId }) => operationId === id) as Operation;
    const { $ref = '' } = requestBody?.content['application/json']?.schema ?? {};
    const { properties, required = [] } = schemaOf($ref, operation.body?.['event']);
    const validate: ValidateFunction = ajv.compile({ $ref: `document${$ref}` });
    const valid = operation.body ?? {};

    /** Without optional fields that are blank, which count as missing although schemas do not say so, unless they have a pattern. */
    const meant = (body: object): object =>
      Object.fromEntries(
        Object.entries(body).filter(
          ([name, value]) =>
            required.includes(name) ||
            properties[name]?.pattern === NOT_BLANK ||
            typeof value !== 'string' ||
            value.trim() !== '',
        ),
      );

    it('is accepted exactly if the API document allows it', async () => {
      const change = fc.tuple(
        fc.constantFrom(...Object.keys(properties)),
        fc.option(anyValue, { nil: undefined }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 2 }), async (changes) => {
          const body = { ...valid, ...Object.fromEntries(changes) };
          const isAllowed = validate(JSON.parse(JSON.stringify(meant(body))));
          const { status, message } = await send(operation, body);
          const isRefused = status === 400 && !BEYOND_SCHEMAS.some((beyond) => beyond.test(message));
          if (isAllowed ? !isRefused : status === 400) return;
          const reason = isAllowed
            ? `refused: ${message}`
            : `accepted with ${status}, but ${ajv.errorsText(validate.errors)}`;
          throw new Error(`${JSON.stringify(body)} is ${reason}`);
        }),
        RUNS,
      );
    });

    it('is required exactly if the API document says so', async () => {
      expect((await send(operation, undefined)).status === 400).toBe(requestBody?.required);
    });
  },
);

describe.each(EVENT_NAMES)('The body of publishEvent for %s', (event) => {
  const reference = '#/components/schemas/PublishEventRequest';
  const validate = ajv.compile({ $ref: `document${reference}` });
  const { properties, required = [] } = schemaOf(reference, event);
  const operation: TestedOperation = { id: 'publishEvent', path: '/events', credentials: 'service' };

  it('has the fields that the service requires, and no others', async () => {
    const session = await service.request('/session/create', {
      body: { type: 'link', external_user_id: 'user-1' },
      as: service.development,
    });
    const { data } = exampleEvent(event);
    const all: Readonly<Record<string, unknown>> = {
      client_id: service.development.clientId,
      event,
      external_user_id: 'user-1',
      session_id: session.body['session'],
      task_id: 7,
      merchant_id: 16,
      data,
      metadata: { order: '4711' },
    };
    const expectAgreement = async (body: object, status: number, isValid = status === 200): Promise<void> => {
      const sent = { ...body, idempotency_key: randomUUID() };
      const response = await send(operation, sent);
      expect([sent, validate(JSON.parse(JSON.stringify(sent))), response]).toMatchObject([
        sent,
        isValid,
        { status },
      ]);
    };
    const valid = Object.fromEntries(Object.entries(all).filter(([name]) => name in properties));
    await expectAgreement(valid, 200);
    for (const name of Object.keys(valid))
      await expectAgreement({ ...valid, [name]: undefined }, required.includes(name) ? 400 : 200);
    for (const name of Object.keys(data))
      await expectAgreement({ ...valid, data: { ...data, [name]: undefined } }, 400);
    // Schemas allow unknown fields.
    for (const [name, value] of Object.entries(all).filter(([each]) => !(each in properties)))
      await expectAgreement({ ...valid, [name]: value }, 400, true);
  });
});
