import { INVALID_ACCESS_TOKEN, type ApiError } from '../errors/index.js';

/** RFC 6750, section 2.1, with the scheme in any case. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** The tokens of a surface. */
export interface TokenKind {
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;
  /** As messages call it. */
  readonly name: string;
  /** Follows the message that there are no credentials. */
  readonly alternative?: string;
  /** Follows every message: says where a token comes from. */
  readonly remedy?: string;
}

/**
 * Returns the headers with the token alone, for Passport. passport-http-bearer also accepts tokens from the query and
 * the body, which end up in histories and logs (RFC 9700, section 4.3.2), and responds to some malformed headers with
 * 400.
 *
 * @throws ApiError INVALID_ACCESS_TOKEN if the header contains no well-formed token
 */
export function bearerHeaders(
  authorization: string | undefined,
  kind: TokenKind,
): { readonly authorization: string } {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  throw /^bearer\b/i.test(authorization ?? '') ? invalidToken(kind) : missingToken(authorization, kind);
}

/** RFC 6750, section 3.1: a request without credentials of this scheme gets no error code. */
export function missingToken(authorization: string | undefined, kind: TokenKind): ApiError {
  const { challenge, name, alternative = '' } = kind;
  const message = authorization
    ? `The Authorization header must use the Bearer scheme, with the ${name}.`
    : `The request has no credentials. Send the ${name} with the Bearer scheme in the Authorization header${alternative}.`;
  return INVALID_ACCESS_TOKEN.error(withRemedy(message, kind), {
    headers: { 'WWW-Authenticate': challenge },
  });
}

/** Does not tell why the token is not valid, unless its prefix shows that it is of another kind. */
export function invalidToken(kind: TokenKind, authorization = ''): ApiError {
  const isMcpToken = /^bearer +mcp_/i.test(authorization) && kind.name !== 'MCP token';
  const explanation = isMcpToken ? ' It is an MCP token, which only the agent connector accepts.' : '';
  return tokenError(kind, `The ${kind.name} is not valid.${explanation}`);
}

/** Whoever has an expired token knows that it was valid. */
export function expiredToken(kind: TokenKind): ApiError {
  return tokenError(kind, `The ${kind.name} has expired.`);
}

function tokenError(kind: TokenKind, message: string): ApiError {
  const described = `${kind.challenge}, error="invalid_token", error_description="${message}"`;
  return INVALID_ACCESS_TOKEN.error(withRemedy(message, kind), {
    headers: { 'WWW-Authenticate': described },
  });
}

function withRemedy(message: string, { remedy }: TokenKind): string {
  return remedy === undefined ? message : `${message} ${remedy}`;
}
