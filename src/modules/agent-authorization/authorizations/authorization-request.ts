import { AGENT_SCOPES, type AgentScope } from '../../../infrastructure/auth/index.js';
import { MAX_LOCATION_LENGTH } from '../../../infrastructure/pages/index.js';
import { scopesIn } from '../../oauth/index.js';

/** SHA-256 in base64url (RFC 7636, section 4.2). */
const CODE_CHALLENGE = /^[\w-]{43}$/;

/** An authorization request that is valid, apart from its agent and its redirect address. */
export interface AuthorizationRequest {
  readonly codeChallenge: string;
  readonly scopes: readonly AgentScope[];
}

/** Why a request is refused (RFC 6749, section 4.1.2.1; RFC 8707, section 2). */
export interface RequestProblem {
  readonly error: 'invalid_request' | 'unsupported_response_type' | 'invalid_target' | 'access_denied';
  /** Without quotation marks and backslashes. */
  readonly description: string;
}

/** The parameters of a query that are not empty (RFC 6749, section 3.1). Those with several different values are arrays. */
export type QueryParameters = Readonly<Record<string, string | string[]>>;

/** The parameters that are read. Others are ignored. `resource` may be repeated (RFC 8707, section 2). */
const PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;
type ParameterName = (typeof PARAMETERS)[number];

/** Returns a parameter that is sent once. */
export function single(query: QueryParameters, name: ParameterName): string | undefined {
  const value = query[name];
  return typeof value === 'string' && !value.includes('\0') ? value : undefined;
}

/**
 * Checks the parameters whose errors may be sent to the agent: its redirect address has been verified.
 *
 * @param redirect the redirect to the agent with a code, as long as it will be
 */
export function readRequest(
  query: QueryParameters,
  isResource: (text: string) => boolean,
  redirect: string,
): AuthorizationRequest | RequestProblem {
  if (PARAMETERS.some((name) => Array.isArray(query[name])))
    return invalid('A parameter is given more than once.');
  if (PARAMETERS.some((name) => query[name]?.includes('\0')))
    return invalid('A parameter contains the character U+0000.');
  const responseType = single(query, 'response_type');
  if (responseType === undefined) return invalid('The response type is missing. It must be code.');
  if (responseType !== 'code')
    return { error: 'unsupported_response_type', description: 'The response type must be code.' };
  if (redirect.length > MAX_LOCATION_LENGTH)
    return invalid(
      `The state is too long: with it, the redirect would have ${redirect.length} bytes of at most ${MAX_LOCATION_LENGTH}.`,
    );
  const codeChallenge = single(query, 'code_challenge');
  if (codeChallenge === undefined) return invalid('The code challenge is missing. PKCE is required.');
  if (single(query, 'code_challenge_method') !== 'S256')
    return invalid('The code challenge method must be S256.');
  if (!CODE_CHALLENGE.test(codeChallenge))
    return invalid('The code challenge must be a SHA-256 in base64url, which has 43 characters.');
  const resources = [query['resource'] ?? []].flat();
  if (!resources.every(isResource))
    return {
      error: 'invalid_target',
      description: 'The resource must be the address of the agent connector.',
    };
  return { codeChallenge, scopes: scopesIn(single(query, 'scope'), AGENT_SCOPES) };
}

function invalid(description: string): RequestProblem {
  return { error: 'invalid_request', description };
}
