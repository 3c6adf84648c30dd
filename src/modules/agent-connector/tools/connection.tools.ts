import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { ENVIRONMENTS } from '../../../infrastructure/config/index.js';
import { SignInLinkCreationService } from '../../sign-in-links/index.js';
import { maskedPhoneNumber } from './sign-in-link.tools.js';
import { nullable, READ_ONLY, TIMESTAMP, tool, type ToolGroup } from './tool.js';

@Injectable()
export class ConnectionTools implements ToolGroup {
  constructor(private readonly links: SignInLinkCreationService) {}

  readonly tools = [
    tool({
      name: 'get_connection_info',
      title: 'Get connection info',
      description:
        'Returns environment and token expiry of this connection, and whether it can send sign-in links. Use it only when a tool ' +
        'is missing or refuses to work.',
      annotations: READ_ONLY,
      scope: 'accounts:read',
      input: z.strictObject({}),
      output: z.object({
        environment: z.enum(ENVIRONMENTS).describe('development: simulated merchants.'),
        expires_at: TIMESTAMP,
        phone_number: nullable(z.string(), 'masked, or null'),
        can_create_sign_in_links: z.boolean(),
        reason: nullable(z.string(), 'or null'),
      }),
      run: async (agent) => {
        const problem = await this.links.presentProblemOf(agent);
        return {
          environment: agent.client.environment,
          expires_at: agent.expiresAt.toISOString(),
          phone_number: agent.phoneNumber === undefined ? null : maskedPhoneNumber(agent.phoneNumber),
          can_create_sign_in_links: problem === undefined,
          reason: problem?.message ?? null,
        };
      },
    }),
  ];
}
