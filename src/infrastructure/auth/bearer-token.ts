import type { ApiError } from '../errors/index.js';
import { INVALID_ACCESS_TOKEN } from './auth-errors.js';
import { AGENT_SCOPES, type AgentScope } from './principals.js';

/** RFC 6750, section 2.1, with the scheme in any case. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/** Returns whether the text can be sent as a Bearer token (RFC 6750, section 2.1), whatever kind of token it is. */
export function hasBearerTokenSyntax(token: string): boolean {
  return /^[\w.~+/-]+=*$/.test(token);
}

/** Thrown for a token that was valid. */
export class ExpiredToken extends Error {}

/** The tokens of a surface. */
export interface TokenKind {
  /** The value of `WWW-Authenticate` (RFC 6750, section 3). */
  readonly challenge: string;
  /** As messages call it. */
  readonly name: string;
  /** Follows the name where messages say what to send. */
  readonly orKey?: string;
  /** Follows the message that there are no credentials. */
  readonly alternative?: string;
  /** Follows every message: says where a token comes from. */
  readonly remedy?: string;
}

export const ACCESS_TOKEN: TokenKind = {
  challenge: 'Bearer realm="Dashboard API"',
  name: 'access token',
  orKey: ' or an API key',
  alternative: ', or log in',
};

/** The tokens of the platform's own services. */
export const SERVICE_TOKEN: TokenKind = { challenge: 'Bearer realm="Internal API"', name: 'service token' };

export const MCP_TOKEN: TokenKind = {
  challenge: 'Bearer realm="Agent connector"',
  name: 'MCP token',
  remedy:
    'The company that the agent works for creates a token with POST /mcp/tokens/create, and configures it in the agent ' +
    'as the header "Authorization: Bearer <token>". Agents that log in use the address /mcp/{client_id} instead.',
};

/**
 * Returns the tokens of the address of one API client, where agents log in: the challenge names the metadata (RFC 9728,
 * section 5.1) and the scopes to request (RFC 6750, section 3).
 */
export function tokenOfAddress(metadataUrl: string): TokenKind {
  const challenge = `${MCP_TOKEN.challenge}, resource_metadata="${metadataUrl}", scope="${AGENT_SCOPES.join(' ')}"`;
  return {
    challenge,
    name: MCP_TOKEN.name,
    remedy: 'Log in at the authorization server that the metadata of this address names.',
  };
}

/** Returns the challenge for a token that lacks a scope (RFC 6750, section 3.1). @param scopes all that are needed */
export function insufficientScope(scopes: readonly AgentScope[], metadataUrl: string | undefined): string {
  const metadata = metadataUrl === undefined ? '' : `, resource_metadata="${metadataUrl}"`;
  return `${MCP_TOKEN.challenge}, error="insufficient_scope", scope="${scopes.join(' ')}"${metadata}`;
}

/** Returns whether the header names the scheme Bearer, whatever follows. */
export function usesBearerScheme(authorization: string | undefined): boolean {
  return /^bearer\b/i.test(authorization ?? '');
}

/** Returns the token of the header, or the error for a header that contains no well-formed token. */
export function tokenIn(authorization: string | undefined, kind: TokenKind): string | ApiError {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  return usesBearerScheme(authorization) ? malformedToken(kind) : missingToken(authorization, kind);
}

/** The error if the text after the scheme is not a token: users paste quotation marks, or the scheme again, and programs send placeholders. */
function malformedToken(kind: TokenKind): ApiError {
  const form =
    'Send the word Bearer, a space and the token, without quotation marks, placeholders or a second Bearer.';
  return tokenError(kind, `The ${kind.name} is not valid. ${form}`);
}

/** RFC 6750, section 3.1: a request without credentials of this scheme gets no error code. */
function missingToken(authorization: string | undefined, kind: TokenKind): ApiError {
  const { challenge, name, orKey = '', alternative = '' } = kind;
  const message = authorization
    ? `The Authorization header must use the Bearer scheme, with the ${name}${orKey}.`
    : `The request has no credentials. Send the ${name}${orKey} with the Bearer scheme in the Authorization header${alternative}.`;
  return INVALID_ACCESS_TOKEN.error(withRemedy(message, kind), {
    headers: { 'WWW-Authenticate': challenge },
  });
}

/** Does not say why the token is not valid, unless its prefix shows that it is a token of another kind. */
export function invalidToken(kind: TokenKind, token = ''): ApiError {
  const isMcpToken = /^mcp_/i.test(token) && kind.name !== MCP_TOKEN.name;
  const explanation = isMcpToken ? ' It is an MCP token, which only the agent connector accepts.' : '';
  return tokenError(kind, `The ${kind.name} is not valid.${explanation}`);
}

/** Says that the token has expired: a client that has it knows that it was valid. */
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
