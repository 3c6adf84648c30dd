import { Injectable } from '@nestjs/common';
import type { AgentScope } from '../../../infrastructure/auth/index.js';
import { digestOfSecret, SecretDigest, secretFrom, sha256 } from '../../../infrastructure/crypto/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, DAY, HOUR, SECOND } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { SYSTEM } from '../../audit-logs/index.js';
import { McpTokensRepository, McpTokensService } from '../../mcp-tokens/index.js';
import { bearerToken, type Grant } from '../../oauth/index.js';
import { labelOf } from '../agents/agent.js';
import type { AgentIssuer } from '../agent-issuer.js';
import type { AgentConnection } from './agent-connection.entity.js';
import { AgentConnectionsService } from './agent-connections.service.js';
import type { NewTokens } from './agent-tokens.batch.js';
import type { AgentTokensResponse } from './agent-grants.dto.js';

/** The agent that sends a request to the token endpoint, of the API client that the path names. */
export interface TokenClient {
  readonly issuer: AgentIssuer;
  readonly agentId: string;
  readonly origin: RequestOrigin;
}

export type AgentGrant<Parameters extends object> = Grant<
  TokenClient,
  TokenClient,
  Parameters,
  AgentTokensResponse
>;

const ACCESS_LIFETIME = HOUR;
/** How long a connection may stay unused. */
export const CONNECTION_LIFETIME = 60 * DAY;

/** Milliseconds for which a repeated request gets the same response while nobody has used the tokens, and after the first use. */
const REPEATABLE_FOR = HOUR;
const REPEATABLE_AFTER_USE = 30 * SECOND;

/** Bytes of a UUID, and where the proof begins in the 32 bytes of a refresh token. */
const ID_BYTES = 16;
const PROOF = 24;

const REFRESH_PREFIXES = { development: 'mcr_dev_', production: 'mcr_live_' } as const;

/** The properties of a connection that its tokens contain. */
type ConnectedAgent = Pick<AgentConnection, 'id' | 'externalUserId' | 'agentName' | 'agentHost'> & {
  readonly phoneNumber: string | undefined;
};

/**
 * Issues the tokens of connections. The two tokens follow from the credential that the agent presents for them (a code or a refresh
 * token) and a key of the server: the response to a repeated request is the same, although the database contains only hashes.
 */
@Injectable()
export class AgentTokensService {
  constructor(
    private readonly connections: AgentConnectionsService,
    private readonly mcpTokens: McpTokensService,
    private readonly mcpTokensRepository: McpTokensRepository,
    private readonly digest: SecretDigest,
    private readonly clock: Clock,
  ) {}

  /** Returns the tokens that follow from the credential: what the agent gets, and what is stored. */
  issue(
    client: ClientRecord,
    connection: ConnectedAgent,
    { presented, scopes, now }: { presented: string; scopes: readonly AgentScope[]; now: Date },
  ): { response: AgentTokensResponse; stored: NewTokens } {
    const { access, refresh } = this.tokensAfter(presented, client, connection.id, now);
    const row = this.mcpTokens.agentTokenRow(access, {
      clientId: client.clientId,
      environment: client.environment,
      connectionId: connection.id,
      externalUserId: connection.externalUserId,
      phoneNumber: connection.phoneNumber,
      agent: labelOf(connection.agentName, connection.agentHost),
      scopes,
      createdAt: now,
      expiresAt: new Date(now.getTime() + ACCESS_LIFETIME),
    });
    return {
      response: toResponse(access, refresh, scopes, ACCESS_LIFETIME),
      stored: { refreshTokenHash: sha256(refresh), access: row },
    };
  }

  /**
   * Returns the tokens that were issued for a code or a refresh token, for a request that is repeated because its response was lost.
   * As long as neither of them was used, nothing suggests that two parties have the credential (RFC 9700, section 4.14.2). Ends the
   * connection if somebody has used them.
   *
   * @param exchangedAt when the credential was exchanged
   * @returns undefined if the tokens were used, or another release has issued them
   */
  async repeat(
    client: TokenClient,
    presented: string,
    connectionId: string,
    exchangedAt: Date,
  ): Promise<AgentTokensResponse | undefined> {
    const { issuer } = client;
    const isSince = (time: Date, milliseconds: number) =>
      this.clock.milliseconds() - time.getTime() > milliseconds;
    const issued = await this.connections.findToken(
      sha256(this.refreshTokenAfter(presented, issuer, connectionId)),
    );
    if (!issued) {
      // Tokens that were exchanged for others since are deleted.
      const usedAt = (await this.connections.find(connectionId))?.usedAt ?? exchangedAt;
      const wasRefreshed = usedAt > exchangedAt && isSince(usedAt, REPEATABLE_AFTER_USE);
      if (wasRefreshed || isSince(exchangedAt, REPEATABLE_FOR))
        await this.endAfterReuse(client, connectionId);
      return undefined;
    }
    const { createdAt, rotatedAt, accessTokenHash, accessExpiresAt, scopes } = issued;
    const uses = [rotatedAt, await this.mcpTokensRepository.firstUsedAt(accessTokenHash, createdAt)];
    const wasUsed = uses.some((usedAt) => usedAt && isSince(usedAt, REPEATABLE_AFTER_USE));
    if (wasUsed || isSince(createdAt, REPEATABLE_FOR)) {
      await this.endAfterReuse(client, connectionId);
      return undefined;
    }
    const { access, refresh } = this.tokensAfter(presented, issuer, connectionId, createdAt);
    const lifetime = Math.max(0, accessExpiresAt.getTime() - this.clock.milliseconds());
    return toResponse(access, refresh, scopes, lifetime);
  }

  /** Ends a connection whose code or refresh token two parties have. */
  async endAfterReuse({ issuer, origin }: TokenClient, connectionId: string): Promise<void> {
    const actor = { ...SYSTEM, origin };
    await this.connections.end(issuer, connectionId, { action: 'agent.reuse', actor });
  }

  /**
   * Returns the connection that a refresh token was issued for, also if the token is no longer stored: the token contains it, and
   * proves it.
   */
  connectionIn(refreshToken: string): string | undefined {
    const bytes = digestOfSecret(refreshToken);
    if (!bytes || !SecretDigest.equal(bytes.subarray(PROOF), this.proofOf(bytes.subarray(0, PROOF))))
      return undefined;
    const hex = bytes.toString('hex', 0, ID_BYTES);
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  private tokensAfter(
    presented: string,
    client: ClientRecord,
    connectionId: string,
    now: Date,
  ): { access: string; refresh: string } {
    return {
      access: this.mcpTokens.agentTokenFrom(this.digest.of(`access token after ${presented}`), client, now),
      refresh: this.refreshTokenAfter(presented, client, connectionId),
    };
  }

  /** The token consists of the ID of its connection, 64 bits that follow from what was presented, and a proof of 64 bits. */
  private refreshTokenAfter(presented: string, { environment }: ClientRecord, connectionId: string): string {
    const id = Buffer.from(connectionId.replaceAll('-', ''), 'hex');
    const follows = this.digest.of(`refresh token after ${presented}`).subarray(0, PROOF - ID_BYTES);
    const parts = Buffer.concat([id, follows]);
    return secretFrom(Buffer.concat([parts, this.proofOf(parts)]), REFRESH_PREFIXES[environment]);
  }

  private proofOf(parts: Buffer): Buffer {
    return this.digest.of(`proof of refresh token ${parts.toString('hex')}`).subarray(0, 32 - PROOF);
  }
}

/** @param lifetime of the access token from now on, in milliseconds */
function toResponse(
  access: string,
  refresh: string,
  scopes: readonly AgentScope[],
  lifetime: number,
): AgentTokensResponse {
  return { ...bearerToken(access, lifetime, scopes), refresh_token: refresh };
}
