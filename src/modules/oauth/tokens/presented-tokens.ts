import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { McpTokensService, type ActiveMcpToken } from '../../mcp-tokens/index.js';
import { OAuthClients } from '../protocol/oauth-clients.js';
import { requireField } from '../protocol/oauth-form.js';
import { AccessTokens } from './access-tokens.js';
import { ActiveAccessTokens, type ActiveAccessToken } from './active-access-tokens.js';
import { RevokedAccessTokensRepository } from './revoked-access-tokens.repository.js';
import type { IntrospectionResponse, RevocationResponse } from './tokens.dto.js';

/**
 * What becomes of a token that a client shows: ended (RFC 7009), or explained (RFC 7662). Both for access
 * tokens and MCP tokens of that client, which look so different that no hint is needed to tell them apart.
 */
@Injectable()
export class PresentedTokens {
  constructor(
    private readonly clients: OAuthClients,
    private readonly accessTokens: AccessTokens,
    private readonly live: ActiveAccessTokens,
    private readonly revoked: RevokedAccessTokensRepository,
    private readonly mcpTokens: McpTokensService,
  ) {}

  /** RFC 7009, section 2.2: a token that is unknown, ended or another's is answered as one that was ended. */
  async revoke(form: FormFields): Promise<RevocationResponse> {
    const token = requireField(form, 'token');
    const { clientId } = await this.clients.namedIn(form);
    const claims = await this.accessTokens.read(token);
    if (!claims) await this.mcpTokens.revoke(clientId, token);
    else if (claims.client_id === clientId) {
      await this.revoked.add({ jti: claims.jti, expiresAt: new Date(claims.exp * SECOND) });
    }
    return {};
  }

  /** RFC 7662, section 2.2: of a token that is none of the client's nothing is said, not even why. */
  async introspect({ clientId }: AuthenticatedClient, form: FormFields): Promise<IntrospectionResponse> {
    const token = requireField(form, 'token');
    const access = await this.live.find(token);
    if (access) return access.claims.client_id === clientId ? aboutAccessToken(access) : { active: false };
    const mcp = await this.mcpTokens.find(clientId, token);
    return mcp ? aboutMcpToken(mcp) : { active: false };
  }
}

function aboutAccessToken({ claims, user }: ActiveAccessToken): IntrospectionResponse {
  return { active: true, token_type: 'Bearer', ...claims, roles: [user.role] };
}

function aboutMcpToken(token: ActiveMcpToken): IntrospectionResponse {
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
