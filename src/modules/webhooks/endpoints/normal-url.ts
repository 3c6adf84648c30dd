/**
 * Returns the normal form of a URL, so that URLs can be compared: the form of the URL Standard (host in lowercase ASCII,
 * no default port, no `..`) without the fragment, which HTTP does not send, and without the dot of the DNS root.
 */
export function normalUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  url.hostname = url.hostname.replace(/\.$/, '');
  return url.href;
}
