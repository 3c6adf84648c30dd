import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { MAX_MERCHANT_ID } from '../../merchants/index.js';
import {
  SIGN_IN_LINK_STATUSES,
  SignInLinkCreationService,
  SignInLinksService,
  type SignInFailure,
  type SignInLinkResponse,
} from '../../sign-in-links/index.js';
import {
  CURSOR,
  MERCHANT,
  NEXT_CURSOR,
  nullable,
  PAGE_SIZE,
  READ_ONLY,
  TIMESTAMP,
  tool,
  type ToolGroup,
} from './tool.js';
import { UrlElicitation, type Elicited } from './url-elicitation.js';

/** The arguments of tools for one link. */
const LINK_ID = z.strictObject({
  link_id: z.string().describe('From create_sign_in_link or list_sign_in_links.'),
});

/** The properties of a link that tools return. */
const SIGN_IN_LINK = z.object({
  link_id: z.string(),
  merchant: MERCHANT,
  status: z.enum(SIGN_IN_LINK_STATUSES),
  failure_reason: nullable(z.string(), 'or null'),
  expires_at: TIMESTAMP,
});

const REASONS: Readonly<Record<SignInFailure, string>> = {
  not_sent: 'The text message could not be sent.',
  denied: 'The merchant does not let the user sign in, for example because the account is locked.',
  too_many_attempts: 'The merchant rejected the credentials or codes too many times.',
};

function toSignInLink(link: SignInLinkResponse): z.input<typeof SIGN_IN_LINK> {
  const { id, merchant, status, failure_reason: failure, expires_at: expiresAt } = link;
  const reason = failure === null ? null : REASONS[failure];
  return { link_id: id, merchant, status, failure_reason: reason, expires_at: expiresAt.toISOString() };
}

/** Returns the phone number with all but its country and its last four digits hidden. */
export function maskedPhoneNumber(phoneNumber: string): string {
  return `${phoneNumber.slice(0, 2)} *** *** ${phoneNumber.slice(-4)}`;
}

@Injectable()
export class SignInLinkTools implements ToolGroup {
  constructor(
    private readonly links: SignInLinksService,
    private readonly creation: SignInLinkCreationService,
  ) {}

  /** Returns the link whose URL the user was asked to open, and cancels it if the user refused. */
  private continue(agent: AuthenticatedAgent, { id, isAccepted }: Elicited): Promise<SignInLinkResponse> {
    return isAccepted ? this.links.find(agent, id) : this.links.cancel(agent, id);
  }

  readonly tools = [
    tool({
      name: 'create_sign_in_link',
      title: 'Create sign-in link',
      description:
        'Creates a link to sign in to the merchant, which connects the account. Use it when the user asks to connect an account. ' +
        'With phone_number, the link was texted: tell the user to open the message, and do not repeat the call while it is pending. ' +
        'With url, give it to the user. A link works once, for 15 minutes.',
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
      scope: 'sign_in_links:write',
      input: z.strictObject({
        merchant_id: z.int().min(1).max(MAX_MERCHANT_ID).describe('From search_merchants.'),
      }),
      output: SIGN_IN_LINK.extend({
        phone_number: z.string().optional(),
        url: z.string().optional(),
        message: z.string().optional(),
      }),
      unavailableTo: (agent) => this.creation.problemOf(agent),
      run: async (agent, { merchant_id: merchantId }, client) => {
        if (client.elicited) return toSignInLink(await this.continue(agent, client.elicited));
        const { url, ...link } = await this.creation.create(agent, merchantId, {
          isRepeated: client.repeatsCalls,
        });
        const { phoneNumber } = agent;
        const withUrl = { ...toSignInLink(link), ...(url !== undefined && { url }) };
        if (phoneNumber !== undefined) return { ...withUrl, phone_number: maskedPhoneNumber(phoneNumber) };
        if (url === undefined || link.status !== 'pending') {
          client.complete(link.id);
          return withUrl;
        }
        const message = `Open this link to log in and connect your ${link.merchant.name} account.`;
        return client.elicitsUrls ? new UrlElicitation(link.id, url, message) : { ...withUrl, message };
      },
    }),
    tool({
      name: 'list_sign_in_links',
      title: 'List sign-in links',
      description:
        'Returns the sign-in links of the user from the last week, newest first, also those of other conversations. Use it to ' +
        'find a pending link before you create another one, or to find the ID of a link.',
      annotations: READ_ONLY,
      scope: 'accounts:read',
      input: z.strictObject({ cursor: CURSOR }),
      output: z.object({ links: z.array(SIGN_IN_LINK), next_cursor: NEXT_CURSOR }),
      run: async (agent, { cursor }) => {
        const { data, next_cursor } = await this.links.page(agent, { cursor, limit: PAGE_SIZE });
        return { links: data.map(toSignInLink), next_cursor };
      },
    }),
    tool({
      name: 'get_sign_in_link',
      title: 'Get sign-in link',
      description:
        'Returns the status of a sign-in link. Use it when the user says that they have signed in. Call it at most once a ' +
        'minute, and stop when it is not pending: completed means connected, anything else needs a new link.',
      annotations: READ_ONLY,
      scope: 'accounts:read',
      input: LINK_ID,
      output: SIGN_IN_LINK,
      run: async (agent, { link_id: id }, client) => {
        const link = await this.links.find(agent, id);
        if (link.proof === 'partner_login' && link.status === 'completed') client.complete(id);
        return toSignInLink(link);
      },
    }),
    tool({
      name: 'cancel_sign_in_link',
      title: 'Cancel sign-in link',
      description:
        'Makes a pending sign-in link useless. Use it when the user changes their mind. Connected accounts stay connected.',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      scope: 'sign_in_links:write',
      input: LINK_ID,
      output: SIGN_IN_LINK,
      run: async (agent, { link_id: id }) => toSignInLink(await this.links.cancel(agent, id)),
    }),
  ];
}
