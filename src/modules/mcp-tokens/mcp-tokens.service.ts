import { Injectable } from '@nestjs/common';
import type { AgentScope, AuthenticatedClient } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { generateDatedSecret, Sealer, secretFrom, sha256 } from '../../infrastructure/crypto/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { IdempotentRequests } from '../../infrastructure/idempotency/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import type { CreateMcpTokenRequest, McpTokenResponse } from './mcp-tokens.dto.js';
import { McpTokensBatch, type NewAgentToken, type NewMcpToken } from './mcp-tokens.batch.js';
import { McpTokensRepository, type ExistingMcpToken } from './mcp-tokens.repository.js';
import { ownerOf, scopesOf } from './stored-mcp-token.js';

/** The data of a token, with the phone number in plain text. */
export interface McpTokenData {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly externalUserId: string;
  readonly phoneNumber: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly scopes: readonly AgentScope[];
  /** Name and host of an agent that the end user connected; null for a token that an API client created. */
  readonly agent: string | null;
}

export type RevokedMcpToken = Pick<NewMcpToken, 'tokenHash' | 'clientId' | 'externalUserId'>;

/** Connections of agents of an API client that ended, with all their tokens, and the users of these connections. */
export interface EndedConnections {
  readonly clientId: string;
  readonly connectionIds: readonly string[];
  readonly externalUserIds: readonly string[];
}

/**
 * Port (bound in `src/ports.module.ts`) that cancels the pending sign-in links of a revoked token. Implementations join the
 * transaction that revokes the token.
 */
export abstract class McpTokenRevocationListener {
  abstract onRevoked(token: RevokedMcpToken): Promise<void>;
  abstract onConnectionsEnded(connections: EndedConnections): Promise<void>;
}

const TOKEN_PREFIXES: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'mcp_dev_',
  production: 'mcp_live_',
};

/** Tokens with which an agent connects to the agent connector on behalf of one end user. */
@Injectable()
export class McpTokensService {
  constructor(
    private readonly repository: McpTokensRepository,
    private readonly batch: McpTokensBatch,
    private readonly revocationListener: McpTokenRevocationListener,
    private readonly idempotentRequests: IdempotentRequests,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns the token once it is committed, so that it is valid as soon as the client knows it. */
  async create(client: AuthenticatedClient, request: CreateMcpTokenRequest): Promise<McpTokenResponse> {
    // Read the clock once: the day in the token must match the day of `created_at`, even around midnight.
    const createdAt = this.clock.now();
    const token = generateDatedSecret(TOKEN_PREFIXES[client.environment], createdAt);
    const tokenHash = sha256(token);
    const expiresAt = new Date(createdAt.getTime() + request.expires_in * SECOND);
    await this.batch.add({
      tokenHash,
      clientId: client.clientId,
      environment: client.environment,
      externalUserId: request.external_user_id,
      phoneNumberSealed: this.sealer.sealOptional(request.phone_number, ownerOf(tokenHash)),
      createdAt,
      expiresAt,
    });
    return { token, expires_at: expiresAt };
  }

  /**
   * Derives the access token of a connected agent from a digest of the code or refresh token, so that a repeated request gets the
   * same token.
   */
  agentTokenFrom(digest: Buffer, { environment }: AttributedClient, createdAt: Date): string {
    return secretFrom(digest, TOKEN_PREFIXES[environment], createdAt);
  }

  /** Returns the row of the access token of an agent that the end user connected by logging in (`agent-authorization`). */
  agentTokenRow(
    token: string,
    { phoneNumber, scopes, ...row }: McpTokenData & Pick<NewAgentToken, 'agent' | 'connectionId'>,
  ): NewAgentToken {
    const tokenHash = sha256(token);
    return {
      ...row,
      tokenHash,
      phoneNumberSealed: this.sealer.sealOptional(phoneNumber, ownerOf(tokenHash)),
      scope: scopes.join(' '),
    };
  }

  /**
   * Returns the data of a token of this client.
   *
   * @returns undefined if the token is unknown, has expired, was revoked, or belongs to another client
   */
  async introspect(clientId: string, token: string): Promise<McpTokenData | undefined> {
    const tokenHash = sha256(token);
    const found = await this.batch.find(token, tokenHash);
    if (!found || found.clientId !== clientId || found.expiresAt <= this.clock.now()) return undefined;
    const stored = await this.repository.findStored(token);
    if (!stored) return undefined;
    const { createdAt } = stored;
    const phoneNumber = this.sealer.openOptional(found.phoneNumberSealed, ownerOf(tokenHash));
    return { ...found, createdAt, phoneNumber, scopes: scopesOf(found) };
  }

  /**
   * Revokes a token of this client and notifies the revocation listener, also if the token may not be used now. Idempotent:
   * unknown tokens and tokens of other clients are ignored.
   */
  async revoke(clientId: string, token: string): Promise<void> {
    const found = await this.repository.findStored(token);
    if (found?.clientId !== clientId) return;
    await this.revokeStored(found);
    await this.idempotentRequests.forgetToken(found.tokenHash);
  }

  @Transactional()
  protected async revokeStored(token: ExistingMcpToken): Promise<void> {
    await this.repository.revoke(token, this.clock.now());
    await this.revocationListener.onRevoked(token);
  }

  /** Returns the connection of an access token that an agent got by logging in, also if the token may not be used now. */
  async connectionOf(token: string): Promise<string | undefined> {
    return (await this.repository.findStored(token))?.connectionId ?? undefined;
  }
}
