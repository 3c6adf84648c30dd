/** Splits an address of this service at its first `?`. A query may contain others (RFC 3986, section 3.4), and some clients send them. */
export function pathAndQuery(address: string): { readonly path: string; readonly query: URLSearchParams } {
  const [, path = '', query] = /^([^?#]*)\??([^#]*)/.exec(address) ?? [];
  return { path, query: new URLSearchParams(query) };
}
