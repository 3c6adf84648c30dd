import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { CursorCodec } from '../../../infrastructure/paging/index.js';
import { MerchantStatusesService } from '../../merchant-statuses/index.js';
import { matchKeys, MerchantsService } from '../../merchants/index.js';
import { MerchantSignIn, NOT_CONFIGURED } from '../../sign-in-links/index.js';
import { CURSOR, MERCHANT, NEXT_CURSOR, optional, READ_ONLY, text, Tool } from './tool.js';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

const INPUT = z.strictObject({
  query: text(256, 'Name of the merchant, or part of it.'),
  limit: optional(z.int().min(1).max(MAX_LIMIT), `Merchants per page; default ${DEFAULT_LIMIT}.`),
  cursor: CURSOR,
});
const OUTPUT = z.object({
  merchants: z.array(
    MERCHANT.extend({ can_sign_in: z.boolean().describe('Whether a sign-in link works for it now.') }),
  ),
  next_cursor: NEXT_CURSOR,
  note: z.string().optional(),
});

@Injectable()
export class SearchMerchantsTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'search_merchants',
    title: 'Search merchants',
    description:
      'Finds merchants by name, closest first. Use it to get the ID of a merchant that the user names.',
    annotations: READ_ONLY,
  };
  readonly input = INPUT;
  readonly output = OUTPUT;

  constructor(
    private readonly merchants: MerchantsService,
    private readonly statuses: MerchantStatusesService,
    private readonly signIns: MerchantSignIn,
    private readonly cursors: CursorCodec,
  ) {
    super();
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT */
  async run(
    { client, organizationId }: AuthenticatedAgent,
    { query, limit = DEFAULT_LIMIT, cursor }: z.output<typeof INPUT>,
  ): Promise<z.input<typeof OUTPUT>> {
    const scope = ['search_merchants', client.clientId, query];
    const after = cursor === undefined ? undefined : Number(this.cursors.decode(cursor, scope)[0]);
    const filters = { matchKeys: matchKeys(query), hidden: false, after };
    const found = await this.merchants.page({ organizationId }, client.environment, filters, limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const statusesOf = await this.statuses.statusesOf(page.map(({ id }) => id));
    return {
      merchants: page.map(({ id, name }) => ({
        id,
        name,
        can_sign_in: this.signIns.isAvailableWith(client.environment, statusesOf(id)),
      })),
      next_cursor: last ? this.cursors.encode([last.id], scope) : null,
      ...(!this.signIns.isConfigured(client.environment) && { note: NOT_CONFIGURED }),
    };
  }
}
