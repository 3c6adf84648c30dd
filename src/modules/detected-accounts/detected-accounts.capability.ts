import { z } from 'zod';
import { auditActions, byOperator, inEnvironment } from '../../infrastructure/audit-catalog/index.js';
import {
  INT32,
  MAX_LIST_LENGTH,
  named,
  text,
  webhookEvents,
  WITH_DATA,
} from '../../infrastructure/event-catalog/index.js';

const DETECTION_EVENTS = webhookEvents({
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
    merchants: {
      field: 'data.detected accounts',
      idsIn: ({ detected_accounts: accounts }) => (accounts as { readonly id: number }[]).map(({ id }) => id),
    },
    example: { detected_accounts: [{ id: 19, name: 'DoorDash' }] },
  },
});
type DetectionEvents = typeof DETECTION_EVENTS;

declare module '../../infrastructure/event-catalog/index.js' {
  interface WebhookEvents extends DetectionEvents {}
}

const DETECTION_ACTIONS = auditActions({
  'detected_account.import': byOperator(
    inEnvironment('api_client'),
    'imported/import detected accounts (for the API client *)',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof DETECTION_ACTIONS, never> {}
}
