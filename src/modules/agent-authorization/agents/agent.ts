import { AGENT_SCOPES, type AgentScope } from '../../../infrastructure/auth/index.js';
import { parsedUrl } from '../../../infrastructure/config/index.js';
import { isLoopback } from '../../../infrastructure/http/index.js';

/** How an agent identified itself. */
export type AgentKind = 'document' | 'dynamic' | 'registered';

/** A public OAuth client (RFC 6749, section 2.1): it has no secret. */
export interface Agent {
  /** Its `client_id`: the URL of its metadata document, or a UUID. */
  readonly id: string;
  readonly kind: AgentKind;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const MAX_URI_LENGTH = 2_000;

/**
 * Returns the URL of a redirect address that may be registered: https, http on a loopback address (RFC 8252, section 7.3), or the
 * scheme of the editor Cursor, which registers no other (section 7.1).
 */
function redirectUrlOf(uri: string): URL | undefined {
  const url =
    uri.length > MAX_URI_LENGTH || !/^(?:https?|cursor):\/\/[\x21-\x7e]+$/.test(uri)
      ? undefined
      : parsedUrl(uri);
  if (!url || uri.includes('#') || uri.includes('\\') || url.username !== '' || url.password !== '')
    return undefined;
  return url.protocol !== 'http:' || isLoopback(url.hostname) ? url : undefined;
}

export function isRedirectUri(uri: unknown): uri is string {
  return typeof uri === 'string' && redirectUrlOf(uri) !== undefined;
}

/** Returns whether only programs on the user's own machine can receive what is sent to the address. */
export function isLocalUri(uri: string): boolean {
  const protocol = redirectUrlOf(uri)?.protocol;
  return protocol !== undefined && protocol !== 'https:';
}

function isLoopbackUri(uri: string): boolean {
  return redirectUrlOf(uri)?.protocol === 'http:';
}

/** Returns the host of an address as users know it, without the port. */
export function hostOf(uri: string): string {
  return new URL(uri).hostname;
}

/** Returns an agent as logs name it. @param host of its redirect address */
export const labelOf = (name: string, host: string): string => `${name} (${host})`;

/**
 * Returns whether the agent has registered the redirect address. Compares the texts, so that no other path, case or slash is
 * accepted; of a loopback address, the port may differ (RFC 8252, section 7.3).
 */
export function hasRedirectUri({ redirectUris }: Agent, uri: string): boolean {
  if (!isRedirectUri(uri)) return false;
  if (redirectUris.includes(uri)) return true;
  return (
    isLoopbackUri(uri) &&
    redirectUris.some((each) => isLoopbackUri(each) && withoutPort(each) === withoutPort(uri))
  );
}

/** Removes the port from the text, which stays the same otherwise. */
function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?]*)):\d+(?=[/?]|$)/, '$1');
}

const MAX_NAME_LENGTH = 200;
/** Invisible characters, and those that change the direction of the text around them. */
const INVISIBLE = /\p{C}/gu;

/** Returns what an agent calls itself, as one line without invisible characters, or else the host of the address. */
export function displayNameOf(name: unknown, address: string): string {
  const text = typeof name === 'string' ? name.replaceAll(/\s+/g, ' ').replaceAll(INVISIBLE, '').trim() : '';
  return text === '' ? hostOf(address) : [...text].slice(0, MAX_NAME_LENGTH).join('');
}

/** Returns the scopes of a `scope` parameter (RFC 6749, section 3.3), or undefined if it contains another one. */
export function scopesIn(text: string): AgentScope[] | undefined {
  const names = new Set(text.split(' ').filter(Boolean));
  const known = AGENT_SCOPES.filter((scope) => names.has(scope));
  return known.length > 0 && known.length === names.size ? known : undefined;
}
