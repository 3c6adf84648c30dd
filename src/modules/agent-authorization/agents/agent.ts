import { isLoopback, parsedUrl } from '../../../infrastructure/config/index.js';
import { firstCharacters } from '../../../infrastructure/validation/index.js';

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
const URI = /^([a-z][a-z\d+.-]{0,62}):[\x21-\x7e]+$/;
/** Other characters are valid in a URL, but have a meaning in a content security policy. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i;
/**
 * Schemes that no app can claim: browsers or the system handle them. Nobody but the user's own browser may run a script or open a
 * file, and other protocols would send the code somewhere.
 */
const NOT_PRIVATE =
  /^(?:https?|wss?|ftps?|sftp|ssh|telnet|ldaps?|file|data|blob|javascript|vbscript|about|view-source|filesystem|jar|resource|chrome.*|edge|mailto|tel|sms|mms|intent|search-ms|search|ms-.*|shell|urn|cid|mid)$/;

/**
 * Returns the URL of a redirect address that may be registered: https, http on a loopback address (RFC 8252, section 7.3), or a
 * private-use scheme, which an app on the user's device has claimed (section 7.1).
 */
function redirectUrlOf(uri: string): URL | undefined {
  const scheme = uri.length > MAX_URI_LENGTH ? undefined : URI.exec(uri)?.[1];
  const url = scheme === undefined ? undefined : parsedUrl(uri);
  if (!url || uri.includes('#') || uri.includes('\\') || url.username !== '' || url.password !== '')
    return undefined;
  if (scheme !== 'https' && scheme !== 'http') return NOT_PRIVATE.test(scheme ?? '') ? undefined : url;
  if (!uri.startsWith(`${scheme}://`) || !HOST.test(url.hostname)) return undefined;
  return scheme === 'https' || isLoopback(url.hostname) ? url : undefined;
}

export function isRedirectUri(uri: unknown): uri is string {
  return typeof uri === 'string' && redirectUrlOf(uri) !== undefined;
}

/** Returns whether only programs on the user's own machine can receive what is sent to the address. */
export function isLocalUri(uri: string): boolean {
  const protocol = redirectUrlOf(uri)?.protocol;
  return protocol !== undefined && protocol !== 'https:';
}

/** Returns whether the address has a scheme that an app has claimed. Any app can: what follows the scheme proves nothing. */
export function isPrivateUseUri(uri: string): boolean {
  return isLocalUri(uri) && !isLoopbackUri(uri);
}

function isLoopbackUri(uri: string): boolean {
  return redirectUrlOf(uri)?.protocol === 'http:';
}

/**
 * Returns where an address leads, as users and settings know it: the host without the port, or a private-use scheme with its colon,
 * such as `cursor:`.
 */
export function hostOrSchemeOf(uri: string): string {
  const { protocol, hostname } = new URL(uri);
  return isPrivateUseUri(uri) ? protocol : hostname;
}

/** Returns an agent as logs name it. @param host or scheme of its redirect address */
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

/** Returns what an agent calls itself, as one line without invisible characters, or else the place of the address. */
export function displayNameOf(name: unknown, address: string): string {
  const text = typeof name === 'string' ? name.replaceAll(/\s+/g, ' ').replaceAll(INVISIBLE, '').trim() : '';
  return text === '' ? hostOrSchemeOf(address) : firstCharacters(text, MAX_NAME_LENGTH);
}
