import type { EventVariant, FieldsOfVariant } from './event-envelope.js';
import { integer, list, nothing, object, orNull, text, word, type Shape, type ValueOf } from './shape.js';

interface EventDescription {
  /** Whom the event is about, and so which fields stand around `data`. */
  readonly variant: EventVariant;
  /** When it is sent and what to do then; published in the documents. */
  readonly description: string;
  readonly data: Shape<object>;
}

const CARD_ID = text('The card, by the id that you gave it.', '81n9al10a0ayn13');
const DATA = 'What this kind of event tells.';
const NO_DATA = 'This kind of event tells nothing more: an empty object. Fields may be added.';

/**
 * Everything that webhooks tell of. A new event is one entry here: types, payloads, the `webhooks` section of the
 * API document and `docs/webhook-events.md` follow from it.
 */
export const EVENTS = {
  AUTHENTICATED: {
    variant: 'session',
    description: 'The user has logged in to the merchant: the account is linked.',
    data: object({ card_id: orNull(CARD_ID) }, DATA),
  },
  CARD_UPDATED: {
    variant: 'session',
    description: 'The card is now the one that the merchant charges.',
    data: object({ card_id: CARD_ID }, DATA),
  },
  CARD_FAILED: {
    variant: 'session',
    description: 'The card could not be put on file at the merchant.',
    data: object(
      {
        card_id: CARD_ID,
        reason: text('Why; for people. The wording may change.', 'The merchant declined the card.'),
      },
      DATA,
    ),
  },
  ACCOUNT_LOGIN_REQUIRED: {
    variant: 'userAndMerchant',
    description:
      'The account is disconnected: the merchant asks the user to log in again. Start a session in which they do.',
    data: nothing(NO_DATA),
  },
  NEW_TRANSACTIONS_AVAILABLE: {
    variant: 'userAndMerchant',
    description: 'There are transactions of the user at the merchant that you have not had.',
    data: nothing(NO_DATA),
  },
  MERCHANT_STATUS_UPDATE: {
    variant: 'merchant',
    description: 'Sessions of a type do not work at the merchant (`DOWN`), or work again (`UP`).',
    data: object(
      {
        type: word(
          ['card_switcher', 'transaction_link', 'link', 'vault'],
          'The type of session.',
          'card_switcher',
        ),
        status: word(['UP', 'DOWN'], 'Whether it works.', 'DOWN'),
      },
      DATA,
    ),
  },
  NEW_DETECTED_ACCOUNTS_AVAILABLE: {
    variant: 'user',
    description:
      'Accounts of the user were detected at these merchants. Call "Search detected accounts" to see which of the ' +
      'merchants that you care about are among them.',
    data: object(
      {
        detected_accounts: list(
          object(
            {
              id: integer('The merchant’s id.', 19),
              name: text('The merchant’s name.', 'DoorDash'),
            },
            'A merchant.',
          ),
          'The merchants.',
        ),
      },
      DATA,
    ),
  },
} as const satisfies Readonly<Record<string, EventDescription>>;

export type EventName = keyof typeof EVENTS;

/** Every name of an event, in the order of the catalogue. */
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];

/** An event as its publisher tells it; which fields it has is a matter of its name. */
export type EventOf<Name extends EventName> = {
  readonly event: Name;
  readonly data: ValueOf<(typeof EVENTS)[Name]['data']>;
} & FieldsOfVariant[(typeof EVENTS)[Name]['variant']];

/** An event of any name, whose fields go with it. */
export type AnyEvent = { [Name in EventName]: EventOf<Name> }[EventName];
