import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { generateSecret, Sealer, sha256 } from '../../infrastructure/crypto/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import type { CreateMcpTokenRequest, McpTokenResponse } from './mcp-tokens.dto.js';
import { McpTokensBatch } from './mcp-tokens.batch.js';
import { McpTokensRepository } from './mcp-tokens.repository.js';

/** What a token that is still good stands for. */
export interface ActiveMcpToken {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly externalUserId: string;
  readonly phoneNumber?: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const TOKEN_PREFIXES: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'mcp_dev_',
  production: 'mcp_live_',
};

/** Tokens that connect an agent for one user (specification, operation 1). */
@Injectable()
export class McpTokensService {
  constructor(
    private readonly repository: McpTokensRepository,
    private readonly batch: McpTokensBatch,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** The token is in the database before it is in anybody's hands. */
  async create(client: AuthenticatedClient, request: CreateMcpTokenRequest): Promise<McpTokenResponse> {
    const token = generateSecret(TOKEN_PREFIXES[client.environment]);
    const tokenHash = sha256(token);
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + request.expires_in * SECOND);
    await this.batch.add({
      tokenHash,
      clientId: client.clientId,
      environment: client.environment,
      externalUserId: request.external_user_id,
      phoneNumberSealed: this.sealPhoneNumber(request.phone_number, tokenHash),
      createdAt,
      expiresAt,
    });
    return { token, expires_at: expiresAt };
  }

  /** @returns undefined for a token that has expired, was revoked, or is not of this client */
  async find(clientId: string, token: string): Promise<ActiveMcpToken | undefined> {
    const found = await this.repository.findActive(sha256(token), clientId, this.clock.now());
    if (!found) return undefined;
    const { environment, externalUserId, createdAt, expiresAt, tokenHash, phoneNumberSealed } = found;
    return {
      clientId,
      environment,
      externalUserId,
      createdAt,
      expiresAt,
      ...(phoneNumberSealed && { phoneNumber: this.sealer.open(phoneNumberSealed, ownerOf(tokenHash)) }),
    };
  }

  /** Ends a token of this client; one that there is not, or no longer, stays so. */
  async revoke(clientId: string, token: string): Promise<void> {
    await this.repository.revoke(sha256(token), clientId, this.clock.now());
  }

  private sealPhoneNumber(phoneNumber: string | undefined, tokenHash: Buffer): Buffer | null {
    if (phoneNumber === undefined) return null;
    return this.sealer.seal(phoneNumber, ownerOf(tokenHash));
  }
}

function ownerOf(tokenHash: Buffer): string[] {
  return ['mcp_token', tokenHash.toString('hex')];
}
