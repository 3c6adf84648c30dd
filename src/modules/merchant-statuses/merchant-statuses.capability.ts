import { z } from 'zod';
import { oneOf, SESSION_TYPE, webhookEvents, WITH_DATA } from '../../infrastructure/event-catalog/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';

export const MERCHANT_STATUSES = ['UP', 'DOWN'] as const;
export const MERCHANT_STATUS = enumeration(
  'MerchantStatus',
  MERCHANT_STATUSES,
  'Whether sessions of a type work at a merchant.',
);

const STATUS_EVENTS = webhookEvents({
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
});
type StatusEvents = typeof STATUS_EVENTS;

declare module '../../infrastructure/event-catalog/index.js' {
  interface WebhookEvents extends StatusEvents {}
}
