import { z } from 'zod';
import { enumeration, type Enumeration } from '../schemas/index.js';
import { isMissing, MESSAGES, validateText } from '../validation/index.js';
import type { SessionMetadata } from './session-metadata.js';

/** Limits of values that clients choose. Schemas do not state them: later values may be longer. */
const MAX_TEXT_LENGTH = 500;
export const MAX_LIST_LENGTH = 100;

/** A text in the `data` of an event. */
export const text = (description: string): z.ZodString =>
  z
    .string()
    .refine((value) => validateText('', value, MAX_TEXT_LENGTH) === undefined)
    .describe(description);

/** One of the values of an enumeration, in the `data` of an event. */
export function oneOf<Value extends string>(
  { name, values, description }: Enumeration<Value>,
  meaning: string,
): z.ZodType<Value> {
  return z.enum(values).meta({ id: name, description }).describe(meaning);
}

/** A part with a name in the API document. */
export function named<Type extends z.ZodType>(id: string, type: Type, description: string): Type {
  return type.meta({ id, description });
}

/** Documented for generated clients, which choose a type by it. The value is looked up, so nothing else checks it. */
export const INT32 = { minimum: 1, maximum: 2 ** 31 - 1 };

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
interface EventDescription {
  /** Determines which fields the payload has besides `data`. */
  readonly variant: keyof FieldsOfVariant;
  /** When the event is sent and how to react to it; published in the documents. */
  readonly description: string;
  readonly data: z.ZodObject;
  /** The merchants that `data` names. They must exist. */
  readonly merchants?: {
    /** As in messages, such as `data.detected accounts`. */
    readonly field: string;
    readonly idsIn: (data: Readonly<Record<string, unknown>>) => number[];
  };
  readonly example: object;
}

/** Descriptions of `data`. */
export const WITH_DATA = 'Fields that depend on the event.';
export const WITHOUT_DATA = 'This event has no further fields: an empty object. Fields may be added.';

/**
 * All events, by name. Each capability adds its own with `declare module`, so that types follow: see docs/extending-dashboard.md.
 *
 * @public
 */
export interface WebhookEvents {}

export type EventName = keyof WebhookEvents & string;

const events: Record<string, EventDescription> = {};
const names: EventName[] = [];

/** All events. It grows while the capabilities are loaded. */
export const EVENTS = events as Readonly<Record<string, EventDescription>> & WebhookEvents;
/** The names of all events, in alphabetical order. */
export const EVENT_NAMES: readonly EventName[] = names;

/**
 * Adds the events of a capability to the catalog: payloads, the `webhooks` section of the API document and
 * `docs/webhook-events.md` are derived from it.
 *
 * @throws Error if an event exists
 */
export function webhookEvents<const Events extends Readonly<Record<string, EventDescription>>>(
  added: Events,
): Events {
  for (const [name, event] of Object.entries(added)) {
    if (name in events) throw new Error(`Two events are called ${name}: rename one of them.`);
    events[name] = event;
    names.push(name as EventName);
  }
  names.sort();
  return added;
}

export const EVENT_NAME = enumeration(
  'EventName',
  EVENT_NAMES,
  'The name of an event. More events may be added.',
);

type DataOf<Name extends EventName> = z.output<WebhookEvents[Name]['data']>;

/** An event as its publisher provides it. Its fields depend on its name. */
export type EventOf<Name extends EventName> = {
  readonly event: Name;
  readonly data: DataOf<Name>;
} & FieldsOfVariant[WebhookEvents[Name]['variant']];

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
export function merchantIdsIn(name: EventName, data: object | undefined): number[] {
  return merchantsOf(name)?.idsIn(data as Readonly<Record<string, unknown>>) ?? [];
}

/** Returns the field of the merchants in the `data` of an event, as in messages. */
export function merchantsFieldOf(name: EventName): string {
  return merchantsOf(name)?.field ?? 'data';
}

function merchantsOf(name: EventName): EventDescription['merchants'] {
  return (events[name] as EventDescription).merchants;
}
