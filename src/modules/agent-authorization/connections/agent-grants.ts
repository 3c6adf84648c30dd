import type { GrantClass } from '../../oauth/index.js';
import type { AgentTokensResponse } from './agent-grants.dto.js';
import type { TokenClient } from './agent-tokens.service.js';
import { AuthorizationCodeGrant } from './authorization-code.grant.js';
import { RefreshTokenGrant } from './refresh-token.grant.js';

/** The grants of the token endpoint of each API client. */
export const AGENT_GRANTS: readonly GrantClass<TokenClient, AgentTokensResponse>[] = [
  AuthorizationCodeGrant,
  RefreshTokenGrant,
];
