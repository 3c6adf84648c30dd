import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { MERCHANT_ACCOUNT_STATE, MerchantAccountsService } from '../../merchant-accounts/index.js';
import { CURSOR, MERCHANT, NEXT_CURSOR, READ_ONLY, TIMESTAMP, Tool } from './tool.js';

const ACCOUNTS_PER_PAGE = 50;

const INPUT = z.strictObject({ cursor: CURSOR });
const OUTPUT = z.object({
  accounts: z.array(
    z.object({
      merchant: MERCHANT,
      state: z.enum(MERCHANT_ACCOUNT_STATE.values).describe('disconnected: the user must sign in again.'),
      since: TIMESTAMP,
    }),
  ),
  next_cursor: NEXT_CURSOR,
});

@Injectable()
export class ListMerchantAccountsTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'list_merchant_accounts',
    title: 'List merchant accounts',
    description:
      'Returns the merchant accounts that the user has connected, and whether they still are. Use it before you create a ' +
      'sign-in link.',
    annotations: READ_ONLY,
  };
  readonly input = INPUT;
  readonly output = OUTPUT;

  constructor(private readonly accounts: MerchantAccountsService) {
    super();
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT */
  async run(
    { client, externalUserId }: AuthenticatedAgent,
    { cursor }: z.output<typeof INPUT>,
  ): Promise<z.input<typeof OUTPUT>> {
    const page = { cursor, limit: ACCOUNTS_PER_PAGE };
    const { data, next_cursor } = await this.accounts.page(client, externalUserId, page);
    const accounts = data.map(({ merchant, state, since }) => ({
      merchant,
      state,
      since: since.toISOString(),
    }));
    return { accounts, next_cursor };
  }
}
