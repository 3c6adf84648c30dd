import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import { MAX_MERCHANT_ID } from '../../merchants/index.js';
import { SignInLinksService } from '../../sign-in-links/index.js';
import { maskedPhoneNumber, SIGN_IN_LINK, toSignInLink } from './sign-in-link.js';
import { Tool } from './tool.js';

const INPUT = z.strictObject({
  merchant_id: z.int().min(1).max(MAX_MERCHANT_ID).describe('From search_merchants.'),
});
const OUTPUT = SIGN_IN_LINK.extend({
  phone_number: z.string(),
  url: z.string().optional().describe('In development only.'),
});

@Injectable()
export class CreateSignInLinkTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'create_sign_in_link',
    title: 'Create sign-in link',
    description:
      'Texts the user a link to sign in to the merchant, which connects the account. Use it when the user asks to connect an ' +
      'account, then tell the user to open the message. Each call sends another message: do not repeat it while a link is ' +
      'pending. A link works once, for 15 minutes.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  };
  readonly input = INPUT;
  readonly output = OUTPUT;

  constructor(private readonly links: SignInLinksService) {
    super();
  }

  override unavailableTo(agent: AuthenticatedAgent): ApiError | undefined {
    return this.links.problemOf(agent);
  }

  /** @throws ApiError MERCHANT_NOT_FOUND, MERCHANT_UNAVAILABLE, TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE */
  async run(
    agent: AuthenticatedAgent,
    { merchant_id: merchantId }: z.output<typeof INPUT>,
  ): Promise<z.input<typeof OUTPUT>> {
    const { url, ...link } = await this.links.create(agent, merchantId);
    const phoneNumber = maskedPhoneNumber(agent.phoneNumber ?? '');
    return { ...toSignInLink(link), phone_number: phoneNumber, ...(url !== undefined && { url }) };
  }
}
