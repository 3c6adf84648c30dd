import { enumeration } from '../../../infrastructure/schemas/index.js';
import type { EventVariant, FieldsOfVariant } from './event-envelope.js';
import {
  integer,
  list,
  named,
  nothing,
  object,
  orNull,
  text,
  word,
  type Shape,
  type ValueOf,
} from './shape.js';

interface EventDescription {
  /** Determines which fields the payload has besides `data`. */
  readonly variant: EventVariant;
  /** When the event is sent and how to react to it; published in the documents. */
  readonly description: string;
  readonly data: Shape<object>;
}

const CARD_ID = text('Your own ID for the card.', '81n9al10a0ayn13');
const DATA = 'Fields that depend on the event.';
/** The types of session that a merchant can have a status for. */
export const MERCHANT_SESSION_TYPES = ['card_switcher', 'transaction_link', 'link', 'vault'] as const;
export const SESSION_TYPE = enumeration('SessionType', MERCHANT_SESSION_TYPES, 'The purpose of a session.');
export const MERCHANT_STATUSES = ['UP', 'DOWN'] as const;
export const MERCHANT_STATUS = enumeration(
  'MerchantStatus',
  MERCHANT_STATUSES,
  'Whether sessions of a type work at a merchant.',
);
const NO_DATA = 'This event has no further fields: an empty object. Fields may be added.';

/**
 * All events. To add one, add an entry here: types, payloads, the `webhooks` section of the API document and
 * `docs/webhook-events.md` are derived from it.
 */
export const EVENTS = {
  AUTHENTICATED: {
    variant: 'session',
    description: 'The user has logged in to the merchant: the account is linked.',
    data: object({ card_id: orNull(CARD_ID) }, DATA),
  },
  CARD_UPDATED: {
    variant: 'session',
    description: 'The merchant now charges the card.',
    data: object({ card_id: CARD_ID }, DATA),
  },
  CARD_FAILED: {
    variant: 'session',
    description: 'The card could not be saved at the merchant.',
    data: object(
      {
        card_id: CARD_ID,
        reason: text('The reason as a sentence. The wording may change.', 'The merchant declined the card.'),
      },
      DATA,
    ),
  },
  ACCOUNT_LOGIN_REQUIRED: {
    variant: 'userAndMerchant',
    description:
      'The account is disconnected: the user must log in to the merchant again. Start a session for this.',
    data: nothing(NO_DATA),
  },
  NEW_TRANSACTIONS_AVAILABLE: {
    variant: 'userAndMerchant',
    description: 'The user has new transactions at the merchant.',
    data: nothing(NO_DATA),
  },
  MERCHANT_STATUS_UPDATE: {
    variant: 'merchant',
    description: 'Sessions of a type stopped working at the merchant (`DOWN`) or work again (`UP`).',
    data: object(
      {
        type: word(SESSION_TYPE, 'The type of session.', 'card_switcher'),
        status: word(MERCHANT_STATUS, 'Whether sessions of this type work.', 'DOWN'),
      },
      DATA,
    ),
  },
  NEW_DETECTED_ACCOUNTS_AVAILABLE: {
    variant: 'user',
    description:
      'Accounts of the user were detected at these merchants. Call "Search detected accounts" to check the merchants ' +
      'that you are interested in.',
    data: object(
      {
        detected_accounts: list(
          named(
            'DetectedMerchant',
            object(
              {
                id: integer('ID of the merchant.', 19),
                name: text('Name of the merchant.', 'DoorDash'),
              },
              'A merchant.',
            ),
          ),
          'The merchants.',
        ),
      },
      DATA,
    ),
  },
} as const satisfies Readonly<Record<string, EventDescription>>;

export type EventName = keyof typeof EVENTS;

/** All event names, in the order of the catalog. */
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];
export const EVENT_NAME = enumeration(
  'EventName',
  EVENT_NAMES,
  'The name of an event. More events may be added.',
);

/** An event as its publisher provides it. Its fields depend on its name. */
export type EventOf<Name extends EventName> = {
  readonly event: Name;
  readonly data: ValueOf<(typeof EVENTS)[Name]['data']>;
} & FieldsOfVariant[(typeof EVENTS)[Name]['variant']];

/** An event of any name, with the fields of that name. */
export type AnyEvent = { [Name in EventName]: EventOf<Name> }[EventName];
