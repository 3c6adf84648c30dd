import { z } from 'zod';
import { text, webhookEvents, WITH_DATA } from '../../infrastructure/event-catalog/index.js';

const CARD_ID = text('Your own ID for the card.');
const EXAMPLE_CARD_ID = '81n9al10a0ayn13';

const SESSION_EVENTS = webhookEvents({
  AUTHENTICATED: {
    variant: 'session',
    description:
      'The user has logged in to the merchant: the account is linked. `card_id` is null if the session has no card, as after a sign-in link.',
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
});
type SessionEvents = typeof SESSION_EVENTS;

declare module '../../infrastructure/event-catalog/index.js' {
  interface WebhookEvents extends SessionEvents {}
}
