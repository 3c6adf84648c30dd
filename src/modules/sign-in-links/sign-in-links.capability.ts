import { z } from 'zod';
import {
  oneOf,
  SESSION_METADATA,
  text,
  webhookEvents,
  WITH_DATA,
} from '../../infrastructure/event-catalog/index.js';
import {
  auditActions,
  by,
  byService,
  byUser,
  inEnvironment,
} from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';

const SIGN_IN_LINK = inEnvironment('sign_in_link');

const SIGN_IN_LINK_ACTIONS = auditActions({
  'sign_in_link.create': byUser(
    SIGN_IN_LINK,
    'created/create a sign-in link (for *)',
    'The entry names the merchant, not the user. Links of API clients and agents are not recorded.',
  ),
  'sign_in_link.refuse': byService(
    SIGN_IN_LINK,
    'refused/refuse to open a sign-in link (for *)',
    'A user other than the one that the link is for had logged in. The link can still be used.',
  ),
  'sign_in_link.cancel': by('A user, an API client or one of its users')(
    SIGN_IN_LINK,
    'cancelled/cancel a sign-in link (for *)',
    'The entry names the merchant, not the user.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof SIGN_IN_LINK_ACTIONS, never> {}
}

export const SIGN_IN_LINK_PERMISSIONS = dashboardPermissions({
  listSignInLinks: {},
  createSignInLink: { role: 'member', action: 'sign_in_link.create' },
  cancelSignInLink: { role: 'member', action: 'sign_in_link.cancel' },
});

menuEntries({
  label: 'Sign-in links',
  icon: 'log-in',
  path: 'sign-in-links',
  permission: SIGN_IN_LINK_PERMISSIONS.listSignInLinks,
  tabOf: 'customers',
  place: 220,
});

export const SIGN_IN_FAILURE = enumeration(
  'SignInFailure',
  ['not_sent', 'denied', 'too_many_attempts'] as const,
  '`not_sent`: the text message could not be sent. `denied`: the merchant does not let the user sign in, for example because the account is locked. ' +
    '`too_many_attempts`: the merchant rejected the credentials or codes too many times.',
);

const EXAMPLE_LINK_ID = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';

const LINK_EVENTS = webhookEvents({
  SIGN_IN_LINK_FAILED: {
    variant: 'userAndMerchant',
    description:
      'The user cannot sign in with a sign-in link. The account does not change. Sign-ins that ' +
      'succeed send `AUTHENTICATED`. Links that are cancelled, or that the user declines, send no event.',
    data: z
      .object({
        sign_in_link_id: text('ID of the sign-in link.'),
        reason: oneOf(SIGN_IN_FAILURE, 'Why the link failed.'),
        metadata: SESSION_METADATA.optional(),
      })
      .describe(WITH_DATA),
    example: { sign_in_link_id: EXAMPLE_LINK_ID, reason: 'too_many_attempts' },
  },
  SIGN_IN_LINK_EXPIRED: {
    variant: 'userAndMerchant',
    description: 'The user did not use a sign-in link in time. The account does not change.',
    data: z
      .object({ sign_in_link_id: text('ID of the sign-in link.'), metadata: SESSION_METADATA.optional() })
      .describe(WITH_DATA),
    example: { sign_in_link_id: EXAMPLE_LINK_ID },
  },
});
type LinkEvents = typeof LINK_EVENTS;

declare module '../../infrastructure/event-catalog/index.js' {
  interface WebhookEvents extends LinkEvents {}
}
