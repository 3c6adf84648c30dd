import { parsedUrl } from '../../infrastructure/config/index.js';

/** The page after a login that has no other destination. */
export const HOME = '/dashboard';

/** Placeholder for our own origin. */
const OWN = 'http://own.invalid';

/** Characters. The path is stored while the user logs in at an identity provider. */
const MAX_LENGTH = 2_000;

/**
 * Returns the page to open after the login. To prevent open redirects, it accepts only paths of our own origin as a
 * browser reads them: browsers read `\\` as `/`, drop tabs and line breaks, resolve `..`, and read `//host` as a host.
 */
export function safeRedirectPath(next: unknown): string {
  if (typeof next !== 'string' || next.length > MAX_LENGTH || !/^\/(?![/\\])/.test(next)) return HOME;
  const url = parsedUrl(next, OWN);
  if (url === undefined) return HOME;
  // Nobody but a form of ours may decide which message a page shows.
  if (url.searchParams.has('done')) url.searchParams.delete('done');
  const { origin, pathname, search } = url;
  const isOwn = origin === OWN && !/^\/[/\\]/.test(pathname);
  // After a login, the login page would look as if the login had failed.
  const isLoginPage = /^\/log(?:in|out)(?:\/|$)/.test(pathname);
  return isOwn && !isLoginPage ? pathname + search : HOME;
}
