import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { DetectedAccountsService } from '../../detected-accounts/index.js';
import { READ_ONLY, text, timestamp, Tool } from './tool.js';

const INPUT = z.strictObject({
  names: z
    .array(text(256, 'Name of a merchant or company, in any common spelling.'))
    .min(1)
    .max(50)
    .describe('The names to look for.'),
});
const OUTPUT = z.object({
  results: z
    .array(
      z.object({
        name: z.string().describe('The name as you gave it.'),
        detected: z.boolean().describe('Whether the user seems to have an account with this merchant.'),
        detected_at: timestamp('When the account was detected; null if none was.').nullable(),
      }),
    )
    .describe('One result for each name, in the order of the names.'),
});

@Injectable()
export class SearchDetectedAccountsTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'search_detected_accounts',
    title: 'Search detected accounts',
    description:
      'Returns for each name whether an account of the user was detected at that merchant. Use it to find out which ' +
      'merchants are worth connecting. A detected account is not connected yet: use list_merchant_accounts for those that are.',
    annotations: READ_ONLY,
  };
  readonly input = INPUT;
  readonly output = OUTPUT;

  constructor(private readonly detectedAccounts: DetectedAccountsService) {
    super();
  }

  async run(
    { client, externalUserId }: AuthenticatedAgent,
    { names }: z.output<typeof INPUT>,
  ): Promise<z.input<typeof OUTPUT>> {
    const results = await this.detectedAccounts.search(client, externalUserId, names);
    return {
      results: results.map(({ detected_at: time, ...result }) => ({
        ...result,
        detected_at: time?.toISOString() ?? null,
      })),
    };
  }
}
