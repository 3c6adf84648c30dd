import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { McpTokensService, type McpTokenData } from '../../mcp-tokens/index.js';
import { publicClient } from '../protocol/oauth-form.js';
import { ActiveAccessTokenVerifier, type ActiveAccessToken } from './active-access-token-verifier.js';
import { AccessTokensService } from './access-tokens.service.js';
import { RevokedTokensRepository } from '../revoked-tokens.repository.js';
import type {
  IntrospectionResponse,
  IntrospectTokenRequest,
  RevocationResponse,
  RevokeTokenRequest,
} from './tokens.dto.js';

/**
 * Revokes (RFC 7009) and introspects (RFC 7662) access tokens and MCP tokens.
 * `token_type_hint` is ignored, because the two kinds have different formats.
 */
@Injectable()
export class TokensService {
  constructor(
    private readonly clients: ApiClientDirectory,
    private readonly accessTokens: AccessTokensService,
    private readonly verifier: ActiveAccessTokenVerifier,
    private readonly repository: RevokedTokensRepository,
    private readonly mcpTokens: McpTokensService,
  ) {}

  /** Responds the same way whether the token was revoked, is unknown, or belongs to another client (RFC 7009, section 2.2). */
  async revoke({ token, ...request }: RevokeTokenRequest): Promise<RevocationResponse> {
    const { clientId } = await publicClient(this.clients, request);
    // This includes a token that has expired by the clock of this process: another process may still accept it.
    const claims = await this.accessTokens.find(token);
    if (!claims) await this.mcpTokens.revoke(clientId, token);
    else if (claims.client_id === clientId) {
      await this.repository.revoke({ jti: claims.jti, expiresAt: new Date(claims.exp * SECOND) });
    }
    return {};
  }

  /** Responds only `active: false` for a token that is not one of the client's (RFC 7662, section 2.2). */
  async introspect(
    { clientId }: AuthenticatedClient,
    { token }: IntrospectTokenRequest,
  ): Promise<IntrospectionResponse> {
    const access = await this.verifier.find(token);
    if (access === 'expired') return { active: false };
    if (access)
      return access.claims.client_id === clientId && scopeOf(access) !== ''
        ? describeAccessToken(access)
        : { active: false };
    const mcp = await this.mcpTokens.introspect(clientId, token);
    return mcp ? describeMcpToken(mcp) : { active: false };
  }
}

/** Returns the scopes of a token without those that its key has lost. */
function scopeOf({ identity: { credential } }: ActiveAccessToken): string {
  return credential.kind === 'session' ? '' : [...credential.scopes].join(' ');
}

function describeAccessToken(access: ActiveAccessToken): IntrospectionResponse {
  const { access_version: _internal, key_id: _key, ...described } = access.claims;
  const current = { scope: scopeOf(access), roles: [access.identity.role] };
  return { active: true, token_type: 'Bearer', ...described, ...current };
}

function describeMcpToken(token: McpTokenData): IntrospectionResponse {
  return {
    active: true,
    token_type: 'mcp',
    sub: token.externalUserId,
    client_id: token.clientId,
    iat: Math.floor(token.createdAt.getTime() / SECOND),
    exp: Math.floor(token.expiresAt.getTime() / SECOND),
    environment: token.environment,
    ...(token.agent !== null && { scope: token.scopes.join(' ') }),
    ...(token.phoneNumber !== undefined && { phone_number: token.phoneNumber }),
  };
}
