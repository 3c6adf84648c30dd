/** RFC 6750, section 2.1, with the scheme in any case. */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Returns the headers with the token alone, for Passport. passport-http-bearer also accepts tokens from the query and
 * the body, which end up in histories and logs (RFC 9700, section 4.3.2), and responds to some malformed headers with
 * 400.
 *
 * @returns undefined if the header contains no well-formed token
 */
export function bearerHeaders(authorization = ''): { readonly authorization: string } | undefined {
  const token = BEARER.exec(authorization)?.[1];
  return token === undefined ? undefined : { authorization: `Bearer ${token}` };
}
