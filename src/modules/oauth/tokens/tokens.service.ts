import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { McpTokensService, type ActiveMcpToken } from '../../mcp-tokens/index.js';
import { OAuthClientsService } from '../protocol/oauth-clients.service.js';
import { requireField } from '../protocol/oauth-form.js';
import { ActiveAccessTokenVerifier, type ActiveAccessToken } from './active-access-token.verifier.js';
import { AccessTokensService } from './access-tokens.service.js';
import { RevokedAccessTokensRepository } from './revoked-access-tokens.repository.js';
import type { IntrospectionResponse, RevocationResponse } from './tokens.dto.js';

/**
 * Revokes (RFC 7009) and introspects (RFC 7662) access tokens and MCP tokens. `token_type_hint` is ignored, because
 * the two kinds have different formats.
 */
@Injectable()
export class TokensService {
  constructor(
    private readonly clients: OAuthClientsService,
    private readonly accessTokens: AccessTokensService,
    private readonly verifier: ActiveAccessTokenVerifier,
    private readonly revokedTokens: RevokedAccessTokensRepository,
    private readonly mcpTokens: McpTokensService,
  ) {}

  /** Responds the same way whether the token was revoked, is unknown, or belongs to another client (RFC 7009, section 2.2). */
  async revoke(form: FormFields): Promise<RevocationResponse> {
    const token = requireField(form, 'token');
    const { clientId } = await this.clients.identify(form);
    const claims = await this.accessTokens.read(token);
    if (!claims) await this.mcpTokens.revoke(clientId, token);
    else if (claims !== 'expired' && claims.client_id === clientId) {
      await this.revokedTokens.add({ jti: claims.jti, expiresAt: new Date(claims.exp * SECOND) });
    }
    return {};
  }

  /** Responds only `active: false` for a token that is not one of the client's (RFC 7662, section 2.2). */
  async introspect({ clientId }: AuthenticatedClient, form: FormFields): Promise<IntrospectionResponse> {
    const token = requireField(form, 'token');
    const access = await this.verifier.find(token);
    if (access === 'expired') return { active: false };
    if (access) return access.claims.client_id === clientId ? describeAccessToken(access) : { active: false };
    const mcp = await this.mcpTokens.find(clientId, token);
    return mcp ? describeMcpToken(mcp) : { active: false };
  }
}

function describeAccessToken({ claims, user }: ActiveAccessToken): IntrospectionResponse {
  const { access_version: _internal, ...described } = claims;
  return { active: true, token_type: 'Bearer', ...described, roles: [user.role] };
}

function describeMcpToken(token: ActiveMcpToken): IntrospectionResponse {
  return {
    active: true,
    token_type: 'mcp',
    sub: token.externalUserId,
    client_id: token.clientId,
    iat: Math.floor(token.createdAt.getTime() / SECOND),
    exp: Math.floor(token.expiresAt.getTime() / SECOND),
    environment: token.environment,
    ...(token.phoneNumber !== undefined && { phone_number: token.phoneNumber }),
  };
}
