import { parsedUrl } from '../../../infrastructure/urls/index.js';

/** Where a login leads when nobody asked for anything else. */
export const HOME = '/account';

/** Stands for our own address, whatever that is: only paths of it are taken. */
const OWN = 'http://own.invalid';

/**
 * Where to go after the login. Only a path of ours is taken, as a browser reads it: browsers take `\\` for
 * `/`, drop tabs and line ends, and resolve `..`, and `//host` is another host (open redirect).
 */
export function safeRedirectPath(next: unknown): string {
  if (typeof next !== 'string' || !/^\/(?![/\\])/.test(next)) return HOME;
  const url = parsedUrl(next, OWN);
  if (url === undefined) return HOME;
  const { origin, pathname, search } = url;
  const isOwn = origin === OWN && !/^\/[/\\]/.test(pathname);
  // A login that leads to the login would look as if it had failed.
  const leadsBack = /^\/log(?:in|out)(?:\/|$)/.test(pathname);
  return isOwn && !leadsBack ? pathname + search : HOME;
}
