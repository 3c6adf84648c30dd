/** What takes the place of a value. */
const MASK = '***';
const SECRET_NAME =
  /token|secret|key|pass|pwd|auth|sig|credential|session|jwt|hash|hmac|code|otp|(?:^|[^a-z])pin(?:$|[^a-z])/i;
/** Letters and digits that nobody would type: keys, hashes, tokens. */
const SECRET_VALUE = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{16,}$/i;

/**
 * The one spelling of a URL that others can be compared with: as the URL Standard writes it (host in lower case
 * and ASCII, no default port, no `..`), and without a fragment, which HTTP does not send.
 */
export function normalUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  return url.href;
}

/** The URL for logs: values of the query that look secret, by their name or of themselves, are masked. */
export function maskedUrl(text: string): string {
  const [address = '', query] = text.split(/\?(.*)/s);
  return query === undefined ? address : `${address}?${query.split('&').map(maskedParameter).join('&')}`;
}

function maskedParameter(parameter: string): string {
  const [name = '', value] = parameter.split(/=(.*)/s);
  // A parameter without a value may be the secret itself.
  if (value === undefined) return SECRET_VALUE.test(decoded(name)) ? MASK : name;
  const isSecret = value !== '' && (SECRET_NAME.test(decoded(name)) || SECRET_VALUE.test(decoded(value)));
  return `${name}=${isSecret ? MASK : value}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
