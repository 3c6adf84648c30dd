import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import { MAX_MERCHANT_ID } from '../../merchants/index.js';
import {
  SIGN_IN_LINK_STATUSES,
  SignInLinksService,
  type SignInFailure,
  type SignInLinkView,
} from '../../sign-in-links/index.js';
import { CURSOR, MERCHANT, NEXT_CURSOR, READ_ONLY, TIMESTAMP, Tool } from './tool.js';

/** The arguments of tools for one link. */
const LINK_ID = z.strictObject({
  link_id: z.string().describe('From create_sign_in_link or list_sign_in_links.'),
});

/** What tools return about a link. */
const SIGN_IN_LINK = z.object({
  link_id: z.string(),
  merchant: MERCHANT,
  status: z.enum(SIGN_IN_LINK_STATUSES),
  failure_reason: z.string().nullable(),
  expires_at: TIMESTAMP,
});

const REASONS: Readonly<Record<SignInFailure, string>> = {
  not_sent: 'The text message could not be sent.',
  refused: 'The merchant refused the sign-in, for example because the account is locked.',
  too_many_attempts: 'The merchant rejected the credentials or codes too many times.',
};

function toSignInLink({
  id,
  merchant,
  status,
  failure,
  expiresAt,
}: SignInLinkView): z.input<typeof SIGN_IN_LINK> {
  return {
    link_id: id,
    merchant,
    status,
    failure_reason: failure === undefined ? null : REASONS[failure],
    expires_at: expiresAt.toISOString(),
  };
}

/** Returns the phone number with all but its country and its last four digits hidden. */
export function maskedPhoneNumber(phoneNumber: string): string {
  return `${phoneNumber.slice(0, 2)} *** *** ${phoneNumber.slice(-4)}`;
}

const CREATE_INPUT = z.strictObject({
  merchant_id: z.int().min(1).max(MAX_MERCHANT_ID).describe('From search_merchants.'),
});
const CREATE_OUTPUT = SIGN_IN_LINK.extend({
  phone_number: z.string(),
  url: z.string().optional().describe('In development only.'),
});

@Injectable()
export class CreateSignInLinkTool extends Tool<typeof CREATE_INPUT, typeof CREATE_OUTPUT> {
  readonly description = {
    name: 'create_sign_in_link',
    title: 'Create sign-in link',
    description:
      'Texts the user a link to sign in to the merchant, which connects the account. Use it when the user asks to connect an ' +
      'account, then tell the user to open the message. Each call sends another message: do not repeat it while a link is ' +
      'pending. A link works once, for 15 minutes.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  };
  readonly input = CREATE_INPUT;
  readonly output = CREATE_OUTPUT;

  constructor(private readonly links: SignInLinksService) {
    super();
  }

  override unavailableTo(agent: AuthenticatedAgent): ApiError | undefined {
    return this.links.problemOf(agent);
  }

  /** @throws ApiError MERCHANT_NOT_FOUND, MERCHANT_UNAVAILABLE, TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE */
  async run(
    agent: AuthenticatedAgent,
    { merchant_id: merchantId }: z.output<typeof CREATE_INPUT>,
  ): Promise<z.input<typeof CREATE_OUTPUT>> {
    const { url, ...link } = await this.links.create(agent, merchantId);
    const phoneNumber = maskedPhoneNumber(agent.phoneNumber ?? '');
    return { ...toSignInLink(link), phone_number: phoneNumber, ...(url !== undefined && { url }) };
  }
}

const LINKS_PER_PAGE = 50;

const LIST_INPUT = z.strictObject({ cursor: CURSOR });
const LIST_OUTPUT = z.object({
  links: z.array(SIGN_IN_LINK),
  next_cursor: NEXT_CURSOR,
});

@Injectable()
export class ListSignInLinksTool extends Tool<typeof LIST_INPUT, typeof LIST_OUTPUT> {
  readonly description = {
    name: 'list_sign_in_links',
    title: 'List sign-in links',
    description:
      'Returns the sign-in links of the user from the last week, newest first, also those of other conversations. Use it to ' +
      'find a pending link before you create another one, or to find the ID of a link.',
    annotations: READ_ONLY,
  };
  readonly input = LIST_INPUT;
  readonly output = LIST_OUTPUT;

  constructor(private readonly links: SignInLinksService) {
    super();
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT */
  async run(
    agent: AuthenticatedAgent,
    { cursor }: z.output<typeof LIST_INPUT>,
  ): Promise<z.input<typeof LIST_OUTPUT>> {
    const { links, nextCursor } = await this.links.page(agent, { cursor, limit: LINKS_PER_PAGE });
    return { links: links.map(toSignInLink), next_cursor: nextCursor };
  }
}

@Injectable()
export class GetSignInLinkTool extends Tool<typeof LINK_ID, typeof SIGN_IN_LINK> {
  readonly description = {
    name: 'get_sign_in_link',
    title: 'Get sign-in link',
    description:
      'Returns the status of a sign-in link. Use it when the user says that they have signed in. Call it at most once a ' +
      'minute, and stop when it is not pending: completed means connected, anything else needs a new link.',
    annotations: READ_ONLY,
  };
  readonly input = LINK_ID;
  readonly output = SIGN_IN_LINK;

  constructor(private readonly links: SignInLinksService) {
    super();
  }

  /** @throws ApiError NOT_FOUND */
  async run(
    agent: AuthenticatedAgent,
    { link_id: id }: z.output<typeof LINK_ID>,
  ): Promise<z.input<typeof SIGN_IN_LINK>> {
    return toSignInLink(await this.links.find(agent, id));
  }
}

@Injectable()
export class CancelSignInLinkTool extends Tool<typeof LINK_ID, typeof SIGN_IN_LINK> {
  readonly description = {
    name: 'cancel_sign_in_link',
    title: 'Cancel sign-in link',
    description:
      'Makes a pending sign-in link useless. Use it when the user changes their mind. Connected accounts stay connected.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  };
  readonly input = LINK_ID;
  readonly output = SIGN_IN_LINK;

  constructor(private readonly links: SignInLinksService) {
    super();
  }

  /** @throws ApiError NOT_FOUND */
  async run(
    agent: AuthenticatedAgent,
    { link_id: id }: z.output<typeof LINK_ID>,
  ): Promise<z.input<typeof SIGN_IN_LINK>> {
    return toSignInLink(await this.links.cancel(agent, id));
  }
}
