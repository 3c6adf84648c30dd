import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { READ_ONLY, timestamp, Tool } from './tool.js';

const INPUT = z.strictObject({});
const OUTPUT = z.object({
  environment: z
    .enum(['development', 'production'])
    .describe('development: a sandbox with simulated merchants. production: real users and merchants.'),
  expires_at: timestamp('When the connection expires. After that, every request is refused.'),
});

@Injectable()
export class GetConnectionInfoTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'get_connection_info',
    title: 'Get connection info',
    description:
      'Returns what this connection is for and when it expires. Call it first, and when another tool is missing or refuses to work.',
    annotations: READ_ONLY,
  };
  readonly input = INPUT;
  readonly output = OUTPUT;

  async run({ client, expiresAt }: AuthenticatedAgent): Promise<z.input<typeof OUTPUT>> {
    return { environment: client.environment, expires_at: expiresAt.toISOString() };
  }
}
