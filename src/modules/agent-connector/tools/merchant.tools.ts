import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { DetectedAccountsService } from '../../detected-accounts/index.js';
import { MERCHANT_ACCOUNT_STATE, MerchantAccountsService } from '../../merchant-accounts/index.js';
import { MerchantStatusesService } from '../../merchant-statuses/index.js';
import { matchKeys, MerchantsService } from '../../merchants/index.js';
import { MerchantSignIn, SIGN_IN_NOT_CONFIGURED } from '../../sign-in-links/index.js';
import {
  CURSOR,
  MERCHANT,
  NEXT_CURSOR,
  nullable,
  optional,
  PAGE_SIZE,
  READ_ONLY,
  text,
  TIMESTAMP,
  tool,
  type ToolGroup,
} from './tool.js';

const DEFAULT_LIMIT = 10;

/** Tools that find merchants, and accounts of the user at merchants. */
@Injectable()
export class MerchantTools implements ToolGroup {
  constructor(
    private readonly merchants: MerchantsService,
    private readonly statuses: MerchantStatusesService,
    private readonly signIns: MerchantSignIn,
    private readonly detectedAccounts: DetectedAccountsService,
    private readonly accounts: MerchantAccountsService,
  ) {}

  readonly tools = [
    tool({
      name: 'search_merchants',
      title: 'Search merchants',
      description:
        'Finds merchants by name, closest first. Use it to get the ID of a merchant that the user names.',
      annotations: READ_ONLY,
      scope: 'accounts:read',
      input: z.strictObject({
        query: text(256, 'Name of the merchant, or part of it.'),
        limit: optional(z.int().min(1).max(PAGE_SIZE), `Merchants per page; default ${DEFAULT_LIMIT}.`),
        cursor: CURSOR,
      }),
      output: z.object({
        merchants: z.array(
          MERCHANT.extend({ can_sign_in: z.boolean().describe('Whether a sign-in link works for it now.') }),
        ),
        next_cursor: NEXT_CURSOR,
        note: z.string().optional(),
      }),
      run: async ({ client, organizationId }, { query, limit = DEFAULT_LIMIT, cursor }) => {
        const { data: page, next_cursor } = await this.merchants.page(
          { ...client, organizationId },
          { matchKeys: matchKeys(query), hidden: false },
          { cursor, limit },
        );
        const statusesOf = await this.statuses.statusesOf(page.map(({ id }) => id));
        return {
          merchants: page.map(({ id, name }) => ({
            id,
            name,
            can_sign_in: this.signIns.isProbablyAvailable(client.environment, statusesOf(id)),
          })),
          next_cursor,
          ...(!this.signIns.isConfigured(client.environment) && { note: SIGN_IN_NOT_CONFIGURED }),
        };
      },
    }),
    tool({
      name: 'search_detected_accounts',
      title: 'Search detected accounts',
      description:
        'Returns which of these merchants the user seems to have an account with. Use it to find accounts that are worth ' +
        'connecting. list_merchant_accounts returns the connected ones.',
      annotations: READ_ONLY,
      scope: 'accounts:read',
      input: z.strictObject({
        names: z
          .array(text(256))
          .min(1)
          .max(50)
          .describe('Names of merchants or companies, in any common spelling.'),
      }),
      output: z.object({
        results: z.array(
          z.object({ name: z.string(), detected: z.boolean(), detected_at: nullable(TIMESTAMP, 'or null') }),
        ),
      }),
      run: async ({ client, externalUserId }, { names }) => {
        const results = await this.detectedAccounts.search(client, externalUserId, names);
        return {
          results: results.map(({ detected_at: time, ...result }) => ({
            ...result,
            detected_at: time?.toISOString() ?? null,
          })),
        };
      },
    }),
    tool({
      name: 'list_merchant_accounts',
      title: 'List merchant accounts',
      description:
        'Returns the merchant accounts that the user has connected, and whether they still are. Use it before you create a ' +
        'sign-in link.',
      annotations: READ_ONLY,
      scope: 'accounts:read',
      input: z.strictObject({ cursor: CURSOR }),
      output: z.object({
        accounts: z.array(
          z.object({
            merchant: MERCHANT,
            state: z
              .enum(MERCHANT_ACCOUNT_STATE.values)
              .describe('disconnected: the user must sign in again.'),
            since: TIMESTAMP,
          }),
        ),
        next_cursor: NEXT_CURSOR,
      }),
      run: async ({ client, externalUserId }, { cursor }) => {
        const page = await this.accounts.page(client, externalUserId, { cursor, limit: PAGE_SIZE });
        const accounts = page.data.map(({ merchant, state, since }) => ({
          merchant,
          state,
          since: since.toISOString(),
        }));
        return { accounts, next_cursor: page.next_cursor };
      },
    }),
  ];
}
