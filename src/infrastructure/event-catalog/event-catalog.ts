import { z } from 'zod';
import { enumeration, type Enumeration } from '../schemas/index.js';
import { isMissing, MESSAGES, validateText } from '../validation/index.js';
import type { SessionMetadata } from './session-metadata.js';

/** Limits of values that clients choose. Schemas do not state them: later values may be longer. */
const MAX_TEXT_LENGTH = 500;
const MAX_LIST_LENGTH = 100;

const text = (description: string): z.ZodString =>
  z
    .string()
    .refine((value) => validateText('', value, MAX_TEXT_LENGTH) === undefined)
    .describe(description);

function oneOf<Value extends string>(
  { name, values, description }: Enumeration<Value>,
  meaning: string,
): z.ZodType<Value> {
  return z.enum(values).meta({ id: name, description }).describe(meaning);
}

/** A part with a name in the API document. */
function named<Type extends z.ZodType>(id: string, type: Type, description: string): Type {
  return type.meta({ id, description });
}

/** Documented for generated clients, which choose a type by it. The value is looked up, so nothing else checks it. */
const INT32 = { minimum: 1, maximum: 2 ** 31 - 1 };

const MERCHANT = named(
  'WebhookMerchant',
  z.object({
    id: z.int().meta(INT32).describe('The merchant’s id, which never changes.'),
    name: text('The merchant’s name.'),
  }),
  'The merchant that the event is about.',
);

export type EventMerchant = z.output<typeof MERCHANT>;

interface SessionFields {
  readonly sessionId: string;
  readonly taskId: number;
  readonly externalUserId: string;
  readonly merchant: EventMerchant;
  readonly metadata?: SessionMetadata | undefined;
}

/** The fields besides `data` that a publisher provides for each variant of event. Only events of a session have metadata. */
export interface FieldsOfVariant {
  readonly session: SessionFields;
  readonly userAndMerchant: Pick<SessionFields, 'externalUserId' | 'merchant'>;
  readonly merchant: Pick<SessionFields, 'merchant'>;
  readonly user: Pick<SessionFields, 'externalUserId'>;
}

const EXTERNAL_USER_ID = z.string().describe('Your own identifier for the user.');

/** The same fields in the payload, in their order. */
export const ENVELOPES = {
  session: {
    session_id: z.uuid().describe('The session that the event belongs to.'),
    task_id: z.int().meta({ format: 'int64' }).describe('The task of the session.'),
    external_user_id: EXTERNAL_USER_ID,
    merchant: MERCHANT,
  },
  userAndMerchant: { external_user_id: EXTERNAL_USER_ID, merchant: MERCHANT },
  merchant: { merchant: MERCHANT },
  user: { external_user_id: EXTERNAL_USER_ID },
} satisfies Readonly<Record<keyof FieldsOfVariant, z.ZodRawShape>>;

/** Returns the fields that a request to publish an event must have, besides `data`, in their order. */
export function conditionalFieldsOf(name: EventName): string[] {
  const names = Object.keys(ENVELOPES[EVENTS[name].variant]);
  return names.map((field) => (field === 'merchant' ? 'merchant_id' : field));
}

export const MERCHANT_SESSION_TYPES = ['card_switcher', 'transaction_link', 'link', 'vault'] as const;
export const SESSION_TYPE = enumeration('SessionType', MERCHANT_SESSION_TYPES, 'The purpose of a session.');
export type SessionType = (typeof MERCHANT_SESSION_TYPES)[number];
export const MERCHANT_STATUSES = ['UP', 'DOWN'] as const;
export const MERCHANT_STATUS = enumeration(
  'MerchantStatus',
  MERCHANT_STATUSES,
  'Whether sessions of a type work at a merchant.',
);

export const SIGN_IN_FAILURE = enumeration(
  'SignInFailure',
  ['not_sent', 'denied', 'too_many_attempts'] as const,
  '`not_sent`: the text message could not be sent. `denied`: the merchant does not let the user sign in, for example because the account is locked. ' +
    '`too_many_attempts`: the merchant rejected the credentials or codes too many times.',
);

interface EventDescription {
  /** Determines which fields the payload has besides `data`. */
  readonly variant: keyof FieldsOfVariant;
  /** When the event is sent and how to react to it; published in the documents. */
  readonly description: string;
  readonly data: z.ZodObject;
  readonly example: object;
}

const CARD_ID = text('Your own ID for the card.');
const EXAMPLE_CARD_ID = '81n9al10a0ayn13';
const EXAMPLE_LINK_ID = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';
const CONNECTION_ID = text('ID of the connection, as in `GET /agent-connections`.');
const EXAMPLE_CONNECTION_ID = 'c2f0a9d4-5b1e-4d3c-8f7a-6e5d4c3b2a19';
const CONNECTED_AGENT = named(
  'ConnectedAgent',
  z.object({
    name: text('What the agent calls itself.'),
    host: text('The host that the user was returned to.'),
  }),
  'The agent.',
);
const EXAMPLE_AGENT = { name: 'Example Agent', host: 'agent.example.com' };
const WITH_DATA = 'Fields that depend on the event.';
const WITHOUT_DATA = 'This event has no further fields: an empty object. Fields may be added.';

/**
 * All events. To add one, add an entry here: types, payloads, the `webhooks` section of the API document and
 * `docs/webhook-events.md` are derived from it.
 */
export const EVENTS = {
  AUTHENTICATED: {
    variant: 'session',
    description: 'The user has logged in to the merchant: the account is linked.',
    data: z.object({ card_id: CARD_ID.nullable() }).describe(WITH_DATA),
    example: { card_id: EXAMPLE_CARD_ID },
  },
  CARD_UPDATED: {
    variant: 'session',
    description: 'The merchant now charges the card.',
    data: z.object({ card_id: CARD_ID }).describe(WITH_DATA),
    example: { card_id: EXAMPLE_CARD_ID },
  },
  CARD_FAILED: {
    variant: 'session',
    description: 'The card could not be saved at the merchant.',
    data: z
      .object({ card_id: CARD_ID, reason: text('The reason as a sentence. The wording may change.') })
      .describe(WITH_DATA),
    example: { card_id: EXAMPLE_CARD_ID, reason: 'The merchant declined the card.' },
  },
  ACCOUNT_LOGIN_REQUIRED: {
    variant: 'userAndMerchant',
    description:
      'The account is disconnected: the user must log in to the merchant again. Start a session for this.',
    data: z.object({}).describe(WITHOUT_DATA),
    example: {},
  },
  NEW_TRANSACTIONS_AVAILABLE: {
    variant: 'userAndMerchant',
    description: 'The user has new transactions at the merchant.',
    data: z.object({}).describe(WITHOUT_DATA),
    example: {},
  },
  MERCHANT_STATUS_UPDATE: {
    variant: 'merchant',
    description: 'Sessions of a type stopped working at the merchant (`DOWN`) or work again (`UP`).',
    data: z
      .object({
        type: oneOf(SESSION_TYPE, 'The type of session.'),
        status: oneOf(MERCHANT_STATUS, 'Whether sessions of this type work.'),
      })
      .describe(WITH_DATA),
    example: { type: 'card_switcher', status: 'DOWN' },
  },
  SIGN_IN_LINK_FAILED: {
    variant: 'userAndMerchant',
    description:
      'The user cannot sign in with a sign-in link that an agent created. The account does not change. Sign-ins that ' +
      'succeed send `AUTHENTICATED`.',
    data: z
      .object({
        sign_in_link_id: text('ID of the sign-in link.'),
        reason: oneOf(SIGN_IN_FAILURE, 'Why the link failed.'),
      })
      .describe(WITH_DATA),
    example: { sign_in_link_id: EXAMPLE_LINK_ID, reason: 'too_many_attempts' },
  },
  SIGN_IN_LINK_EXPIRED: {
    variant: 'userAndMerchant',
    description: 'The user did not use a sign-in link in time. The account does not change.',
    data: z.object({ sign_in_link_id: text('ID of the sign-in link.') }).describe(WITH_DATA),
    example: { sign_in_link_id: EXAMPLE_LINK_ID },
  },
  NEW_DETECTED_ACCOUNTS_AVAILABLE: {
    variant: 'user',
    description:
      'Accounts of the user were detected at these merchants. Send a request to "Search detected accounts" to check the merchants ' +
      'that you are interested in.',
    data: z
      .object({
        detected_accounts: z
          .array(
            named(
              'DetectedMerchant',
              z.object({
                id: z.int().meta(INT32).describe('ID of the merchant.'),
                name: text('Name of the merchant.'),
              }),
              'A merchant.',
            ),
          )
          .refine(({ length }) => length <= MAX_LIST_LENGTH)
          .describe('The merchants.'),
      })
      .describe(WITH_DATA),
    example: { detected_accounts: [{ id: 19, name: 'DoorDash' }] },
  },
  AGENT_CONNECTED: {
    variant: 'user',
    description: 'The user has connected an agent, which may act for the user from now on.',
    data: z.object({ connection_id: CONNECTION_ID, agent: CONNECTED_AGENT }).describe(WITH_DATA),
    example: { connection_id: EXAMPLE_CONNECTION_ID, agent: EXAMPLE_AGENT },
  },
  AGENT_DISCONNECTED: {
    variant: 'user',
    description:
      'A connected agent may no longer act for the user: you, the dashboard or the agent ended the connection, or a token was ' +
      'used twice.',
    data: z.object({ connection_id: CONNECTION_ID, agent: CONNECTED_AGENT }).describe(WITH_DATA),
    example: { connection_id: EXAMPLE_CONNECTION_ID, agent: EXAMPLE_AGENT },
  },
} as const satisfies Readonly<Record<string, EventDescription>>;

export type EventName = keyof typeof EVENTS;

export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];
export const EVENT_NAME = enumeration(
  'EventName',
  EVENT_NAMES,
  'The name of an event. More events may be added.',
);

type DataOf<Name extends EventName> = z.output<(typeof EVENTS)[Name]['data']>;

/** An event as its publisher provides it. Its fields depend on its name. */
export type EventOf<Name extends EventName> = {
  readonly event: Name;
  readonly data: DataOf<Name>;
} & FieldsOfVariant[(typeof EVENTS)[Name]['variant']];

export type AnyEvent = { [Name in EventName]: EventOf<Name> }[EventName];

/** Returns the message about the first problem of the `data` that a client sent for an event. */
export function validateData(name: EventName, data: unknown): string | undefined {
  return EVENTS[name].data.safeParse(data, { error: messageOf }).error?.issues[0]?.message;
}

function messageOf(issue: z.core.$ZodRawIssue): string {
  const { input, path = [] } = issue;
  const at = path.map((key) =>
    typeof key === 'number' ? `[${key}]` : `.${String(key).replaceAll('_', ' ')}`,
  );
  const field = ['data', ...at].join('');
  if (input === undefined || (typeof path.at(-1) === 'number' && isMissing(input)))
    return MESSAGES.required(field);
  if (issue.code === 'invalid_value') return MESSAGES.selected(field, issue.values.map(String));
  const expected = issue.code === 'invalid_type' ? issue.expected : undefined;
  if (expected === 'object') return MESSAGES.object(field);
  if (expected === 'array') return MESSAGES.array(field);
  if (Array.isArray(input) && !expected) return MESSAGES.maxItems(field, MAX_LIST_LENGTH);
  const isText = expected === 'string' || (typeof input === 'string' && !expected);
  return (isText ? validateText(field, input, MAX_TEXT_LENGTH) : undefined) ?? MESSAGES.integer(field);
}

/** Returns the IDs of the merchants in valid `data` of an event. */
export function detectedMerchantIds(name: EventName, data: unknown): number[] {
  if (name !== 'NEW_DETECTED_ACCOUNTS_AVAILABLE') return [];
  const { detected_accounts: accounts } = data as DataOf<typeof name>;
  return accounts.map(({ id }) => id);
}
