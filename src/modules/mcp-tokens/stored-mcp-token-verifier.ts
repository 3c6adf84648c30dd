import { Injectable } from '@nestjs/common';
import type { AuthenticatedAgent, TokenVerifier } from '../../infrastructure/auth/index.js';
import { ApiClientDirectory } from '../api-clients/index.js';
import { McpTokensService } from './mcp-tokens.service.js';

/** Verifies MCP tokens. Nothing is cached, so that a revoked token is refused in the next request. */
@Injectable()
export class StoredMcpTokenVerifier implements TokenVerifier<AuthenticatedAgent> {
  constructor(
    private readonly tokens: McpTokensService,
    private readonly clients: ApiClientDirectory,
  ) {}

  async verify(token: string): Promise<AuthenticatedAgent | 'expired' | undefined> {
    const found = await this.tokens.authenticate(token);
    if (found === undefined || found === 'expired') return found;
    const { id, tokenHash, clientId, environment, externalUserId, expiresAt } = found;
    const client = await this.clients.find(clientId);
    if (!client) return undefined;
    return {
      tokenId: id,
      tokenHash,
      client: { clientId, environment },
      organizationId: client.organizationId,
      externalUserId,
      expiresAt,
      get phoneNumber() {
        return found.phoneNumber();
      },
    };
  }
}
