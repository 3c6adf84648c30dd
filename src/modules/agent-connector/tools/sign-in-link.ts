import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import {
  SIGN_IN_LINK_STATUSES,
  SignInLinksService,
  type SignInFailure,
  type SignInLinkView,
} from '../../sign-in-links/index.js';
import { MERCHANT, TIMESTAMP, Tool } from './tool.js';

const LINK_ID = z.strictObject({
  link_id: z.string().describe('From create_sign_in_link or list_sign_in_links.'),
});

/** What tools return about a link. */
export const SIGN_IN_LINK = z.object({
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

export function toSignInLink({
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

/** A tool that takes the ID of a link, and returns the link. */
@Injectable()
export abstract class SignInLinkTool extends Tool<typeof LINK_ID, typeof SIGN_IN_LINK> {
  readonly input = LINK_ID;
  readonly output = SIGN_IN_LINK;

  constructor(protected readonly links: SignInLinksService) {
    super();
  }

  /** @throws ApiError NOT_FOUND */
  async run(
    agent: AuthenticatedAgent,
    { link_id: id }: z.output<typeof LINK_ID>,
  ): Promise<z.input<typeof SIGN_IN_LINK>> {
    return toSignInLink(await this.linkAfter(agent, id));
  }

  /** Does what the tool is for. @returns the link as it is then */
  protected abstract linkAfter(agent: AuthenticatedAgent, id: string): Promise<SignInLinkView>;
}

/** Returns the phone number with all but its country and its last four digits hidden. */
export function maskedPhoneNumber(phoneNumber: string): string {
  return `${phoneNumber.slice(0, 2)} *** *** ${phoneNumber.slice(-4)}`;
}
