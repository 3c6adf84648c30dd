import { SESSION_METADATA, type SessionMetadata } from './session-metadata.js';
import { integer, named, object, text, uuid, type Shape, type ValueOf } from './shape.js';

const MERCHANT = named(
  'WebhookMerchant',
  object(
    {
      id: integer('The merchant’s id, which never changes.', 16),
      name: text('The merchant’s name.', 'Netflix'),
    },
    'The merchant that the event is about.',
  ),
);

/** The merchant that an event is about. */
export type EventMerchant = ValueOf<typeof MERCHANT>;

interface SessionFields {
  readonly sessionId: string;
  readonly taskId: number;
  readonly externalUserId: string;
  readonly merchant: EventMerchant;
  readonly metadata?: SessionMetadata | undefined;
}

/**
 * The fields besides `data` that a publisher provides for each variant of event. Only events of a session have
 * metadata.
 */
export interface FieldsOfVariant {
  readonly session: SessionFields;
  readonly userAndMerchant: Pick<SessionFields, 'externalUserId' | 'merchant'>;
  readonly merchant: Pick<SessionFields, 'merchant'>;
  readonly user: Pick<SessionFields, 'externalUserId'>;
}
export type EventVariant = keyof FieldsOfVariant;

const SESSION_ID = uuid('The session that the event belongs to.', 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584');
const TASK_ID = integer('The task of the session.', 25_605);
const EXTERNAL_USER_ID = text('Your own identifier for the user.', 'user-8f3a');

/** The same fields in the payload, in their order. */
export const ENVELOPES = {
  session: {
    session_id: SESSION_ID,
    task_id: TASK_ID,
    external_user_id: EXTERNAL_USER_ID,
    merchant: MERCHANT,
  },
  userAndMerchant: { external_user_id: EXTERNAL_USER_ID, merchant: MERCHANT },
  merchant: { merchant: MERCHANT },
  user: { external_user_id: EXTERNAL_USER_ID },
} as const satisfies Readonly<Record<EventVariant, Readonly<Record<string, Shape<unknown>>>>>;

const EXAMPLE_SESSION: Required<SessionFields> = {
  sessionId: SESSION_ID.example,
  taskId: TASK_ID.example,
  externalUserId: EXTERNAL_USER_ID.example,
  merchant: MERCHANT.example,
  metadata: SESSION_METADATA.example,
};
const { externalUserId, merchant } = EXAMPLE_SESSION;

export const EXAMPLE_FIELDS: FieldsOfVariant = {
  session: EXAMPLE_SESSION,
  userAndMerchant: { externalUserId, merchant },
  merchant: { merchant },
  user: { externalUserId },
};
