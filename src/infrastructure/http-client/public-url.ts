import { isIP } from 'node:net';
import { parsedUrl } from '../config/index.js';
import { isPublicUnicast } from './ip-addresses.js';

/** Why requests to a URL are forbidden. */
export type UrlProblem = 'SYNTAX' | 'NOT_HTTPS' | 'CREDENTIALS' | 'ADDRESS' | 'NOT_PUBLIC_NAME';

/**
 * Top-level labels under which no public receiver exists: RFC 6761 (`test`, `invalid`, `localhost`), RFC 6762 (`local`
 * and the private labels of its appendix G), RFC 7686 (`onion`), RFC 9476 (`alt`), `mail` and `internal` (ICANN, 2018
 * and 2024), the common default `localdomain`, and `arpa`, which is for infrastructure and includes `home.arpa`.
 * `example` is not listed: applications should treat it like any other name (RFC 6761, section 6.5).
 */
const PRIVATE_TOP_LABELS = new Set([
  'alt',
  'arpa',
  'corp',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'mail',
  'onion',
  'private',
  'test',
]);

/** Characters that the URL parser silently drops (white space, control characters) or turns into a slash. */
const SILENTLY_CHANGED = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\\]/u;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const TOP_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;
const MAX_NAME_LENGTH = 253;

/**
 * Returns why the URL is not a public https URL, judged by its text only (no DNS), or undefined if it is
 * one. Checks the host as parsed by the WHATWG parser, which also parses the URL for the request, so `0x7f.1`,
 * `2130706433` and `①②⑦.0.0.1` are recognized as addresses.
 */
export function validatePublicUrl(url: string): UrlProblem | undefined {
  const problem = validateUrl(url);
  if (problem !== undefined) return problem;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:') return 'NOT_HTTPS';
  const name = withoutRootDot(hostname);
  if (addressIn(hostname) !== undefined || isIP(name) !== 0) return 'ADDRESS';
  return isPublicName(name) ? undefined : 'NOT_PUBLIC_NAME';
}

/** Like `validatePublicUrl`, for development: allows http and private addresses. */
export function validateUrl(url: string): UrlProblem | undefined {
  const parsed = SILENTLY_CHANGED.test(url) || !/^[a-z]+:\/\/[^/]/i.test(url) ? undefined : parsedUrl(url);
  if (parsed === undefined) return 'SYNTAX';
  const { protocol, username, password, port } = parsed;
  if (protocol !== 'https:' && protocol !== 'http:') return 'NOT_HTTPS';
  if (port === '0') return 'SYNTAX';
  // The parser drops an `@` that has nothing before it.
  const hasEmptyCredentials = /^[a-z]+:\/\/[^/?#]*@/i.test(url);
  return username === '' && password === '' && !hasEmptyCredentials ? undefined : 'CREDENTIALS';
}

/**
 * Returns the normal form of a URL, so that URLs can be compared: the form of the URL Standard (host in lowercase ASCII,
 * no default port, no `..`) without the fragment, which HTTP does not send, and without the dot of the DNS root.
 */
export function normalUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  url.hostname = withoutRootDot(url.hostname);
  return url.href;
}

/** Returns whether the host of the URL is an address that is not public. Host names are not resolved. */
export function hasPrivateAddress(url: string): boolean {
  const address = addressIn(withoutRootDot(parsedUrl(url)?.hostname ?? ''));
  return address !== undefined && !isPublicUnicast(address);
}

/** Returns the address if a parsed host is one, without the brackets of IPv6. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
}

/** Removes the dot of a fully qualified name: `example.com.` is `example.com`. */
export function withoutRootDot(hostname: string): string {
  return hostname.replace(/\.$/, '');
}

function isPublicName(name: string): boolean {
  const labels = name.split('.');
  const top = labels.at(-1) ?? '';
  return (
    labels.length > 1 &&
    name.length <= MAX_NAME_LENGTH &&
    labels.every((label) => LABEL.test(label)) &&
    TOP_LABEL.test(top) &&
    !PRIVATE_TOP_LABELS.has(top)
  );
}
