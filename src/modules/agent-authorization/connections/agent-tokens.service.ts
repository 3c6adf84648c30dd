import { Injectable } from '@nestjs/common';
import type { AgentScope } from '../../../infrastructure/auth/index.js';
import { SecretDigest, secretFrom, sha256 } from '../../../infrastructure/crypto/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, DAY, HOUR, SECOND } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { McpTokensService } from '../../mcp-tokens/index.js';
import { labelOf } from '../agents/agent.js';
import type { AgentProvider } from '../settings/agent-settings.service.js';
import type { AgentConnection } from './agent-connection.entity.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';
import type { NewTokens } from './agent-tokens.batch.js';
import type { AgentTokensResponse } from './tokens.dto.js';

/** The agent that sends a request to the token endpoint, of the API client that the path names. */
export interface TokenClient {
  readonly provider: AgentProvider;
  readonly agentId: string;
  readonly origin: RequestOrigin;
}

const ACCESS_LIFETIME = HOUR;
/** How long a connection may stay unused. */
export const CONNECTION_LIFETIME = 60 * DAY;

const REFRESH_PREFIXES = { development: 'mcr_dev_', production: 'mcr_live_' } as const;

/** What the tokens of a connection contain. */
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
    private readonly repository: AgentConnectionsRepository,
    private readonly mcpTokens: McpTokensService,
    private readonly digest: SecretDigest,
    private readonly clock: Clock,
  ) {}

  /** Returns the tokens that follow from the credential: what the agent gets, and what is stored. */
  issue(
    client: ClientRecord,
    connection: ConnectedAgent,
    { presented, scopes, now }: { presented: string; scopes: readonly AgentScope[]; now: Date },
  ): { response: AgentTokensResponse; stored: NewTokens } {
    const { access, refresh } = this.tokensAfter(presented, client, now);
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

  /** Returns the tokens that were issued for the refresh token at that time, or undefined if they do not exist. */
  async issuedBefore(
    client: ClientRecord,
    presented: string,
    rotatedAt: Date,
  ): Promise<AgentTokensResponse | undefined> {
    const { access, refresh } = this.tokensAfter(presented, client, rotatedAt);
    const issued = await this.repository.findToken(sha256(refresh));
    if (!issued) return undefined;
    const left = issued.accessExpiresAt.getTime() - this.clock.milliseconds();
    return toResponse(access, refresh, issued.scopes, Math.max(0, left));
  }

  private tokensAfter(
    presented: string,
    client: ClientRecord,
    now: Date,
  ): { access: string; refresh: string } {
    const digestFor = (purpose: string): Buffer => this.digest.of(`${purpose} after ${presented}`);
    return {
      access: this.mcpTokens.agentTokenFrom(digestFor('access token'), client, now),
      refresh: secretFrom(digestFor('refresh token'), REFRESH_PREFIXES[client.environment]),
    };
  }
}

/** @param lifetime of the access token from now on, in milliseconds */
function toResponse(
  access: string,
  refresh: string,
  scopes: readonly AgentScope[],
  lifetime: number,
): AgentTokensResponse {
  return {
    token_type: 'Bearer',
    expires_in: Math.floor(lifetime / SECOND),
    access_token: access,
    refresh_token: refresh,
    scope: scopes.join(' '),
  };
}
