import { isIP } from 'node:net';

/** The URL parser forgives spaces, line ends and backslashes; whoever sends those made a mistake. */
const WRITTEN = /^https:\/\/[^\s\\]+$/i;

/**
 * Whether a URL may be one of the public network, by its spelling alone: https, no credentials, a host name of
 * two labels or more. The parser turns every spelling of an address (`0x7f.1`) into the usual one.
 */
export function isPublicHttpsUrl(text: string): boolean {
  if (!WRITTEN.test(text) || !URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  return username === '' && password === '' && isPublicName(hostname);
}

function isPublicName(hostname: string): boolean {
  const labels = hostname.split('.');
  const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0;
  return !isAddress && labels.length > 1 && !labels.includes('') && labels.at(-1) !== 'localhost';
}
