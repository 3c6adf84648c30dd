import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { DetectedAccountsService } from '../../detected-accounts/index.js';
import { READ_ONLY, text, TIMESTAMP, Tool } from './tool.js';

const INPUT = z.strictObject({
  names: z
    .array(text(256))
    .min(1)
    .max(50)
    .describe('Names of merchants or companies, in any common spelling.'),
});
const OUTPUT = z.object({
  results: z.array(z.object({ name: z.string(), detected: z.boolean(), detected_at: TIMESTAMP.nullable() })),
});

@Injectable()
export class SearchDetectedAccountsTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'search_detected_accounts',
    title: 'Search detected accounts',
    description:
      'Returns which of these merchants the user seems to have an account with. Use it to find accounts that are worth ' +
      'connecting. list_merchant_accounts returns the connected ones.',
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
