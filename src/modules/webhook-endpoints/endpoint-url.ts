/**
 * The one spelling of a URL that others can be compared with: as the URL Standard writes it (host in lower case
 * and ASCII, no default port, no `..`), and without a fragment, which HTTP does not send.
 */
export function normalUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  return url.href;
}
