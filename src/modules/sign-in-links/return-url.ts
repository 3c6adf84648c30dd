import { parsedUrl, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { isLoopback } from '../../infrastructure/config/index.js';
import { withParameters } from '../../infrastructure/http/index.js';

/** Characters that browsers remove from a URL, or read as others. */
const MISREAD = /[\s\\\p{C}]/u;

/** Returns whether a link may return to the address. @param hosts those that the partner has listed; none has a port */
export function isReturnUrl(
  text: string,
  { environment, hosts }: { readonly environment: PlatformEnvironment; readonly hosts: readonly string[] },
): boolean {
  const url = MISREAD.test(text) ? undefined : parsedUrl(text);
  if (!url || url.username !== '' || url.password !== '' || text.includes('#')) return false;
  if (environment === 'development' && isLoopback(url.hostname)) return /^https?:$/.test(url.protocol);
  return url.protocol === 'https:' && hosts.includes(url.host);
}

/** Returns the address with the ID and the status of the link. Anyone can change the address: only the API says how the link ended. */
export function returnUrlOf({
  id,
  returnUrl,
  status,
}: {
  readonly id: string;
  readonly returnUrl: string;
  readonly status: string;
}): string {
  return withParameters(returnUrl, { link_id: id, status });
}
