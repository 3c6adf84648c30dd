import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { OpenAPIObject, OperationObject, ParameterObject, RequestBodyObject } from '@nestjs/swagger';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { standardSignature } from '../../infrastructure/crypto/index.js';
import { EVENT_NAMES } from '../../infrastructure/event-catalog/index.js';
import { deliveryHeaders } from './signing/delivery-headers.js';
// With the events of all capabilities.
import '../../app.module.js';

const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(committed) as OpenAPIObject;
const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as (instance: Ajv2020) => void)(ajv);
ajv.addSchema(document, 'document');

it('The API document has exactly one webhook for each event', () => {
  expect(Object.keys(document.webhooks ?? {})).toEqual(EVENT_NAMES);
});

it('The schema of webhook-signature accepts the signatures of all kinds of keys', () => {
  const parameter = document.components?.parameters?.['WebhookSignature'] as ParameterObject | undefined;
  const schema = parameter?.schema;
  const message = { id: 'id', timestampSeconds: 0, body: Buffer.from('{}') };
  const client = standardSignature(message, 'secret');
  const hmac = standardSignature(message, randomBytes(32));
  const { privateKey } = generateKeyPairSync('ed25519');
  const ed25519 = `v1a,${sign(null, message.body, privateKey).toString('base64')}`;
  for (const sent of [client, hmac, ed25519, `${client} ${ed25519}`, `${ed25519} ${hmac} ${client}`])
    expect(ajv.validate(schema as object, sent)).toBe(true);
  for (const other of ['', 'v1,', `v1a,${hmac.slice(3)}`, `v1,${ed25519.slice(4)}`, `${client},${hmac}`])
    expect(ajv.validate(schema as object, other)).toBe(false);
});

describe.each(EVENT_NAMES)('The webhook %s', (name) => {
  const operation = document.webhooks?.[name]?.post as OperationObject;
  const pointer = `document#/webhooks/${name}/post/requestBody/content/application~1json`;
  const validate: ValidateFunction = ajv.compile({ $ref: `${pointer}/schema` });
  const example = (operation.requestBody as RequestBodyObject).content['application/json']?.example as object;
  const names = (operation.parameters ?? []).map((parameter) =>
    String(Object.values(parameter)[0]).split('/').at(-1),
  );
  const parameters = names.map((each) => document.components?.parameters?.[each ?? ''] as ParameterObject);

  it('has an example that matches its schema', () => {
    validate(example);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...example, event: 'ANOTHER' })).toBe(false);
  });

  it('lists the headers that are sent, with examples that match their schemas', () => {
    const sent = deliveryHeaders({
      eventId: 'id',
      event: name,
      body: Buffer.from('{}'),
      now: new Date(0),
      secret: 'secret',
    });
    const { 'Content-Type': _, ...documented } = sent;
    expect(parameters.map((parameter) => parameter.name)).toEqual(Object.keys(documented));
    for (const { in: location, required, schema, example: value } of parameters) {
      expect([location, required, ajv.validate(schema as object, value)]).toEqual(['header', true, true]);
    }
  });

  it('requires no credentials and is acknowledged with 200', () => {
    expect(operation.security).toEqual([]);
    expect(Object.keys(operation.responses)).toEqual(['200', 'default']);
    expect(Object.keys(document.paths).join(' ')).not.toMatch(new RegExp(name, 'i'));
  });
});
