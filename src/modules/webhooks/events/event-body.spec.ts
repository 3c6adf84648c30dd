import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { EVENT_NAMES, EVENTS, type EventOf } from '../../../infrastructure/event-catalog/index.js';
import { namedSchemas } from '../../../infrastructure/schemas/index.js';
import type { WebhookPublisher } from '../publishing/webhook-publisher.js';
import { eventBody } from './event-body.js';
import { eventSchema, exampleEvent, examplePayload } from './event-document.js';
// With the events of all capabilities.
import '../../../app.module.js';

const AT = 1_710_864_923_198;
const SESSION_ID = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';
const NETFLIX = { id: 16, name: 'Netflix' };

const CARD_UPDATED: EventOf<'CARD_UPDATED'> = {
  event: 'CARD_UPDATED',
  sessionId: SESSION_ID,
  taskId: 25_605,
  externalUserId: 'abc',
  merchant: NETFLIX,
  data: { card_id: '81n9al10a0ayn13' },
};

const text = (body: Buffer): string => body.toString('utf8');

describe('eventBody', () => {
  it('returns the body of the specification, byte for byte', () => {
    expect(text(eventBody({ ...CARD_UPDATED, metadata: { trace_id: 't-1' } }, AT))).toBe(
      `{"event":"CARD_UPDATED","session_id":"${SESSION_ID}","task_id":25605,"external_user_id":"abc",` +
        '"merchant":{"id":16,"name":"Netflix"},"data":{"card_id":"81n9al10a0ayn13","metadata":{"trace_id":"t-1"}},' +
        '"timestamp":1710864923198}',
    );
  });

  it('omits the session if the event has none', () => {
    const status: EventOf<'MERCHANT_STATUS_UPDATE'> = {
      event: 'MERCHANT_STATUS_UPDATE',
      merchant: { id: 19, name: 'DoorDash' },
      data: { type: 'card_switcher', status: 'DOWN' },
    };
    expect(text(eventBody(status, AT))).toBe(
      '{"event":"MERCHANT_STATUS_UPDATE","merchant":{"id":19,"name":"DoorDash"},' +
        '"data":{"type":"card_switcher","status":"DOWN"},"timestamp":1710864923198}',
    );
  });

  it.each([[{}], [undefined]])('omits metadata that is %j', (metadata) => {
    expect(text(eventBody({ ...CARD_UPDATED, metadata }, AT))).toBe(text(eventBody(CARD_UPDATED, AT)));
    expect(text(eventBody(CARD_UPDATED, AT))).not.toContain('metadata');
  });

  it('rounds the timestamp down to milliseconds', () => {
    expect(JSON.parse(text(eventBody(CARD_UPDATED, AT + 0.9)))).toMatchObject({ timestamp: AT });
  });

  it('includes only the id and name of a merchant', () => {
    const merchant = { ...NETFLIX, hidden: true };
    expect(text(eventBody({ ...CARD_UPDATED, merchant }, AT))).not.toContain('hidden');
  });

  it('preserves any metadata', () => {
    const metadata = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), {
      minKeys: 1,
      maxKeys: 10,
    });
    fc.assert(
      fc.property(metadata, (attached) => {
        const { data } = JSON.parse(text(eventBody({ ...CARD_UPDATED, metadata: attached }, AT))) as {
          data: { metadata: object };
        };
        expect(Object.entries(data.metadata)).toEqual(Object.entries(JSON.parse(JSON.stringify(attached))));
      }),
      { examples: [[JSON.parse('{"__proto__":"a"}')], [{ toJSON: 'a' }], [{ constructor: 'a' }]] },
    );
  });
});

describe.each(EVENT_NAMES)('The example of %s', (name) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (formats as unknown as (instance: Ajv2020) => void)(ajv);
  const validate = ajv.compile({ ...eventSchema(name), components: { schemas: namedSchemas() } });
  const payload = examplePayload(name);

  it('matches the schema', () => {
    validate(payload);
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each(Object.keys(payload))('does not match it without %s or with another type', (field) => {
    expect(validate({ ...payload, [field]: undefined })).toBe(false);
    expect(validate({ ...payload, [field]: true })).toBe(false);
  });

  it('has metadata if and only if it has a session', () => {
    expect('session_id' in payload).toBe(EVENTS[name].variant === 'session');
    expect('metadata' in (payload['data'] as object)).toBe('session_id' in payload);
    expect(exampleEvent(name).event).toBe(name);
  });
});

describe('The event catalog', () => {
  it('contains the events of the specification, and those about sign-in links and agents', () => {
    const events = EVENT_NAMES.map((name) => [name, EVENTS[name].variant]);
    // Other capabilities may add theirs.
    expect(events).toEqual(
      expect.arrayContaining([
        ['ACCOUNT_LOGIN_REQUIRED', 'userAndMerchant'],
        ['AGENT_CONNECTED', 'user'],
        ['AGENT_DISCONNECTED', 'user'],
        ['AUTHENTICATED', 'session'],
        ['CARD_FAILED', 'session'],
        ['CARD_UPDATED', 'session'],
        ['MERCHANT_STATUS_UPDATE', 'merchant'],
        ['NEW_DETECTED_ACCOUNTS_AVAILABLE', 'user'],
        ['NEW_TRANSACTIONS_AVAILABLE', 'userAndMerchant'],
        ['SIGN_IN_LINK_EXPIRED', 'userAndMerchant'],
        ['SIGN_IN_LINK_FAILED', 'userAndMerchant'],
      ]),
    );
  });

  it('rejects other events at compile time', () => {
    const client = { clientId: SESSION_ID, environment: 'development' } as const;
    // `npm run types` fails if one of these compiles. None of them is called.
    const rejected = (publisher: WebhookPublisher): unknown[] => [
      // @ts-expect-error: unknown event
      publisher.publish(client, { ...CARD_UPDATED, event: 'CARD_LOST' }),
      // @ts-expect-error: a session is missing
      publisher.publish(client, { event: 'CARD_UPDATED', data: { card_id: 'a' } }),
      // @ts-expect-error: the card is missing
      publisher.publish(client, { ...CARD_UPDATED, data: {} }),
      // @ts-expect-error: only AUTHENTICATED can be without a card
      publisher.publish(client, { ...CARD_UPDATED, data: { card_id: null } }),
      publisher.publish(client, {
        event: 'MERCHANT_STATUS_UPDATE',
        merchant: NETFLIX,
        // @ts-expect-error: unknown status
        data: { type: 'link', status: 'BROKEN' },
      }),
      publisher.publish(client, {
        event: 'MERCHANT_STATUS_UPDATE',
        merchant: NETFLIX,
        data: { type: 'link', status: 'UP' },
        // @ts-expect-error: this event has no session
        sessionId: SESSION_ID,
      }),
      publisher.publish(client, {
        event: 'ACCOUNT_LOGIN_REQUIRED',
        externalUserId: 'abc',
        merchant: NETFLIX,
        data: {},
        // @ts-expect-error: metadata belongs to sessions
        metadata: { a: 'b' },
      }),
      publisher.publish(client, {
        event: 'ACCOUNT_LOGIN_REQUIRED',
        externalUserId: 'abc',
        merchant: NETFLIX,
        // @ts-expect-error: this event has no data
        data: { card_id: 'a' },
      }),
    ];
    expect(rejected).toBeInstanceOf(Function);
  });
});
