import { AGENT_SCOPES, type AgentScope } from '../../infrastructure/auth/index.js';

/** Returns the scopes of a `scope` parameter (RFC 6749, section 3.3), or undefined if it contains another one. */
export function scopesIn(text: string): AgentScope[] | undefined {
  const names = new Set(text.split(' ').filter(Boolean));
  const known = AGENT_SCOPES.filter((scope) => names.has(scope));
  return known.length > 0 && known.length === names.size ? known : undefined;
}
