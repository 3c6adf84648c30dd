import { AGENT_SCOPES, type AgentScope } from '../../infrastructure/auth/index.js';
import type { StoredMcpToken } from './mcp-tokens.batch.js';

/** Returns what an agent may do with the token. */
export function scopesOf({ scope }: StoredMcpToken): readonly AgentScope[] {
  return scope === null ? AGENT_SCOPES : (scope.split(' ') as AgentScope[]);
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted phone number is bound to. */
export function ownerOf(tokenHash: Buffer): string[] {
  return ['mcp_token', tokenHash.toString('hex')];
}
