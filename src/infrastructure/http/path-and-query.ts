/** Splits an address of this service at its first `?`. A query may contain others (RFC 3986, section 3.4), and some clients send them. */
export function pathAndQuery(address: string): { readonly path: string; readonly query: URLSearchParams } {
  const [, path = '', query] = /^([^?#]*)\??([^#]*)/.exec(address) ?? [];
  return { path, query: new URLSearchParams(query) };
}

/**
 * Returns the address of a partner with parameters at the end of its query, in place of those of the same names. The rest of the query
 * stays as it is, because the partner may have signed it.
 */
export function withParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  const isKept = (text: string): boolean =>
    [...new URLSearchParams(text).keys()].every((name) => !Object.hasOwn(parameters, name));
  const kept = url.search === '' ? [] : url.search.slice(1).split('&').filter(isKept);
  url.search = [...kept, new URLSearchParams(parameters)].join('&');
  return url.href;
}
