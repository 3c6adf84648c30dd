import { Injectable } from '@nestjs/common';
import type { AuthenticatedAgent, TokenVerifier } from '../../infrastructure/auth/index.js';
import { dayOfSecret, Sealer, sha256 } from '../../infrastructure/crypto/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { ApiClientDirectory } from '../api-clients/index.js';
import { McpTokensBatch } from './mcp-tokens.batch.js';
import { ownerOf, scopesOf } from './stored-mcp-token.js';

/** Authenticates agents by their MCP tokens. */
@Injectable()
export class McpTokenVerifier implements TokenVerifier<AuthenticatedAgent> {
  constructor(
    private readonly batch: McpTokensBatch,
    private readonly clients: ApiClientDirectory,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Verifies the token that an agent sent. Only its API client comes from a cache (`ApiClientDirectory`). The token is read for
   * each request, so a revoked token is rejected from the next request on.
   */
  async verify(token: string): Promise<AuthenticatedAgent | 'expired' | undefined> {
    const tokenHash = sha256(token);
    const found = await this.batch.find(token, tokenHash);
    if (!found) return undefined;
    if (found.expiresAt <= this.clock.now()) return 'expired';
    const { id: tokenId, clientId, environment, externalUserId, expiresAt, phoneNumberSealed } = found;
    const client = await this.clients.find(clientId);
    if (!client) return undefined;
    if (found.connectionId !== null && !found.isUsed)
      await this.batch.firstUses.add({ tokenHash, day: dayOfSecret(token), usedAt: this.clock.now() });
    const openPhoneNumber = () => this.sealer.openOptional(phoneNumberSealed, ownerOf(tokenHash));
    return {
      tokenId,
      tokenHash,
      connectionId: found.connectionId,
      client: { clientId, environment },
      organizationId: client.organizationId,
      externalUserId,
      expiresAt,
      scopes: scopesOf(found),
      agent: found.agent,
      // A getter, because most requests do not use the number, and decrypting it takes time.
      get phoneNumber() {
        return openPhoneNumber();
      },
    };
  }
}
