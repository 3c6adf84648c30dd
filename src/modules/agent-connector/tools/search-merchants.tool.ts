import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { CursorCodec } from '../../../infrastructure/paging/index.js';
import { MerchantStatusesService } from '../../merchant-statuses/index.js';
import { matchKeys, MerchantsService } from '../../merchants/index.js';
import { MERCHANT_SESSION_TYPES, MERCHANT_STATUSES } from '../../webhooks/index.js';
import { CURSOR, NEXT_CURSOR, READ_ONLY, text, Tool } from './tool.js';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

const INPUT = z.strictObject({
  query: text(256, 'Part of the name of the merchant, or of a common alias.'),
  limit: z
    .int()
    .min(1)
    .max(MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .describe('Maximum number of merchants in the page.'),
  cursor: CURSOR,
});
const OUTPUT = z.object({
  merchants: z
    .array(
      z.object({
        id: z.int().describe('ID of the merchant, for create_sign_in_link.'),
        name: z.string(),
        status: z
          .record(z.enum(MERCHANT_SESSION_TYPES), z.enum(MERCHANT_STATUSES))
          .describe('Whether each type of session works now. Signing in requires link to be UP.'),
      }),
    )
    .describe('The merchants, the most relevant first.'),
  next_cursor: NEXT_CURSOR,
});

@Injectable()
export class SearchMerchantsTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'search_merchants',
    title: 'Search merchants',
    description:
      'Finds merchants by name, and returns their IDs and whether they work at the moment. Use it to get the ID of a ' +
      'merchant that the user names.',
    annotations: READ_ONLY,
  };
  readonly input = INPUT;
  readonly output = OUTPUT;

  constructor(
    private readonly merchants: MerchantsService,
    private readonly statuses: MerchantStatusesService,
    private readonly cursors: CursorCodec,
  ) {
    super();
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT */
  async run(
    { client, organizationId }: AuthenticatedAgent,
    { query, limit, cursor }: z.output<typeof INPUT>,
  ): Promise<z.input<typeof OUTPUT>> {
    const scope = ['search_merchants', client.clientId, query];
    const after = cursor === undefined ? undefined : Number(this.cursors.decode(cursor, scope)[0]);
    const filters = { matchKeys: matchKeys(query), hidden: false, after };
    const found = await this.merchants.page({ organizationId }, client.environment, filters, limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const statuses = await this.statuses.statusesOf(page.map(({ id }) => id));
    return {
      merchants: page.map(({ id, name }) => ({ id, name, status: statuses(id) })),
      next_cursor: last ? this.cursors.encode([last.id], scope) : null,
    };
  }
}
