import type { AgentScope } from '../../../infrastructure/auth/index.js';
import { AGENT_SCOPES } from '../../../infrastructure/auth/index.js';
import { scopesIn } from '../agents/agent.js';

/** Characters. Agents keep their own state there; the longest known ones are signed tokens. */
const MAX_STATE_LENGTH = 4_096;
/** SHA-256 in base64url (RFC 7636, section 4.2). */
const CODE_CHALLENGE = /^[\w-]{43}$/;

/** An authorization request that is valid, apart from its agent and its redirect address. */
export interface AuthorizationRequest {
  readonly codeChallenge: string;
  readonly scopes: readonly AgentScope[];
}

/** Why a request is refused (RFC 6749, section 4.1.2.1; RFC 8707, section 2). */
export interface RequestProblem {
  readonly error:
    'invalid_request' | 'unsupported_response_type' | 'invalid_scope' | 'invalid_target' | 'access_denied';
  /** Without quotation marks and backslashes. */
  readonly description: string;
}

/** The parameters of a query that are not empty (RFC 6749, section 3.1). Repeated ones are arrays. */
export type QueryParameters = Readonly<Record<string, unknown>>;

/** Returns a parameter that is sent once. */
export function single(query: QueryParameters, name: string): string | undefined {
  const value = query[name];
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
}

/** Returns the state if it can be repeated. */
export function stateOf(query: QueryParameters): string | undefined {
  const state = single(query, 'state');
  return state !== undefined && state.length <= MAX_STATE_LENGTH ? state : undefined;
}

/** Checks the parameters whose errors the agent may be told: its redirect address has been verified. */
export function readRequest(query: QueryParameters, resource: string): AuthorizationRequest | RequestProblem {
  const repeated = Object.values(query).some((value) => typeof value !== 'string');
  if (repeated) return invalid('A parameter is given more than once.');
  if (single(query, 'response_type') !== 'code')
    return { error: 'unsupported_response_type', description: 'The response type must be code.' };
  if (query['state'] !== undefined && query['state'] !== '' && stateOf(query) === undefined)
    return invalid(`The state must not be longer than ${MAX_STATE_LENGTH} characters.`);
  const codeChallenge = single(query, 'code_challenge');
  if (codeChallenge === undefined) return invalid('The code challenge is missing. PKCE is required.');
  if (single(query, 'code_challenge_method') !== 'S256')
    return invalid('The code challenge method must be S256.');
  if (!CODE_CHALLENGE.test(codeChallenge))
    return invalid('The code challenge must be a SHA-256 in base64url, which has 43 characters.');
  const target = single(query, 'resource');
  if (target !== undefined && target !== resource)
    return { error: 'invalid_target', description: `The resource must be ${resource}.` };
  const scope = single(query, 'scope');
  const scopes = scope === undefined ? AGENT_SCOPES : scopesIn(scope);
  if (!scopes)
    return { error: 'invalid_scope', description: `The known scopes are ${AGENT_SCOPES.join(' and ')}.` };
  return { codeChallenge, scopes };
}

function invalid(description: string): RequestProblem {
  return { error: 'invalid_request', description };
}
