import { isIP } from 'node:net';
import { parsedUrl } from '../urls/index.js';

/** What makes a URL one that nobody may send to. */
export type UrlProblem = 'SYNTAX' | 'NOT_HTTPS' | 'CREDENTIALS' | 'ADDRESS' | 'NOT_PUBLIC_NAME';

/**
 * Ends of names that the public DNS does not know: RFC 6761 (`test`, `invalid`, `localhost`), RFC 6762
 * (`local` and the private ones of its appendix G), RFC 7686 (`onion`), RFC 9476 (`alt`), `internal`
 * (ICANN, 2024) and `arpa`, which holds infrastructure, `home.arpa` included. Not `example`: applications
 * should treat it as any other name (RFC 6761, section 6.5).
 */
const PRIVATE_ENDS = new Set([
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

/** What the URL parser drops (white space, control characters) or turns into a slash without a word. */
const SILENTLY_CHANGED = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\\]/u;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const TOP_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;
const MAX_NAME_LENGTH = 253;

/**
 * The fault of a URL that nobody may send to, by its spelling alone (no DNS); `undefined` when it is a
 * public https URL. Judges the host as the WHATWG parser understands it, which is the one that requests are
 * sent with, so `0x7f.1`, `2130706433` and `①②⑦.0.0.1` are the address that they mean.
 */
export function validatePublicUrl(url: string): UrlProblem | undefined {
  const fault = validateUrl(url);
  if (fault !== undefined) return fault;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:') return 'NOT_HTTPS';
  const name = withoutRootDot(hostname);
  if (addressIn(hostname) !== undefined || isIP(name) !== 0) return 'ADDRESS';
  return isPublicName(name) ? undefined : 'NOT_PUBLIC_NAME';
}

/** The same, where developers may send to anything that speaks HTTP. */
export function validateUrl(url: string): UrlProblem | undefined {
  const parsed = SILENTLY_CHANGED.test(url) || !/^[a-z]+:\/\/[^/]/i.test(url) ? undefined : parsedUrl(url);
  if (parsed === undefined) return 'SYNTAX';
  const { protocol, username, password, port } = parsed;
  if (protocol !== 'https:' && protocol !== 'http:') return 'NOT_HTTPS';
  if (port === '0') return 'SYNTAX';
  return username === '' && password === '' && !hasEmptyCredentials(url) ? undefined : 'CREDENTIALS';
}

/** The parser forgets an `@` with nothing before it. */
function hasEmptyCredentials(url: string): boolean {
  return /^[a-z]+:\/\/[^/?#]*@/i.test(url);
}

/** The address that a parsed host is, without the brackets of IPv6. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
}

/** `example.com.` is `example.com`, only spelled to the root. */
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
    !PRIVATE_ENDS.has(top)
  );
}
