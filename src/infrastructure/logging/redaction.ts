const MASK = '[REDACTED]';

/** Properties whose values are never logged, at any depth and in any letter case. */
export const REDACTED_PROPERTIES: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'password',
  'secret',
  'token',
  'access_token',
  'device_code',
  'user_code',
  'pepper',
  'phone_number',
  'email',
  // PostgreSQL and its driver quote row values in these.
  'detail',
  'parameters',
  'where',
  'query',
  'internalQuery',
];

/**
 * The published pattern of all secrets that this service issues: API secrets (`mcs_dev_`, `mcs_live_`), API keys
 * (`mck_`), MCP tokens (`mcp_`), refresh tokens of agents (`mcr_`) and service tokens (`mcs_svc_`). Used by leak scanners, and by the redaction of logs.
 */
export const SECRET_PATTERN = /\bmc(?:[sprk]_(?:dev|live)|s_svc)_[0-9A-Za-z]{49}/g;

/** Each pattern takes linear time: a failed match does not scan the same text again from another position. */
const SECRET_TEXTS: readonly RegExp[] = [
  SECRET_PATTERN,
  // Keys of webhook endpoints.
  /\bwhs(?:ec|k)_[\w+/]{8,}={0,2}/g,
  // Credentials as in an Authorization header.
  /\b(?:Basic|Bearer)\s+[\w+/.~-]{8,}={0,2}/gi,
  // The user information of a URL, as in a database address, up to the last @. A password may also contain ? and #, unencoded,
  // but no quotation mark, which ends the text of a JSON document.
  /(?<=[a-z0-9+.-]:\/\/)(?:[^\s/@:"\\]*:[^\s/"\\]+|[^\s/?#"\\]+)(?=@)/gi,
];

/** Everything that may be or contain a JWT. */
const DOTTED_TEXT = /(?<![\w-])[\w-]+(?:\.[\w-]*)+/g;
/** The beginning of a JSON object in base64url. */
const JSON_OBJECT = /\beyJ[\w-]/;

/** Masks everything that looks like a secret in free text, such as error messages of libraries. */
export function redactText(text: string): string {
  const withoutTokens = text.includes('eyJ') ? text.replace(DOTTED_TEXT, maskJsonWebTokens) : text;
  return SECRET_TEXTS.reduce((redacted, pattern) => redacted.replace(pattern, MASK), withoutTokens);
}

/**
 * Masks JSON Web Tokens: two JSON objects in base64url and a signature, joined by dots. One pattern for all three parts
 * would scan a long text to its end from each `eyJ`, which takes quadratic time.
 */
function maskJsonWebTokens(text: string): string {
  const parts = text.split('.');
  const masked: string[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] as string;
    const start = index + 2 < parts.length ? part.search(JSON_OBJECT) : -1;
    const isToken = start >= 0 && parts[index + 1]?.search(JSON_OBJECT) === 0;
    masked.push(isToken ? part.slice(0, start) + MASK : part);
    if (isToken) index += 2;
  }
  return masked.join('.');
}

const SECRET_HEADER = /^([ \t]*(?:(?:set-)?cookie|(?:proxy-)?authorization)[ \t]*:).*$/gim;
const SECRET_WORD =
  'token|secret|passw(?:or)?d|pwd|api[_-]?key|private[_-]?key|authorization|signature|cookie|credential|jwt';
const SEPARATOR = String.raw`["']?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}`;
const VALUE = String.raw`"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?|[^\s"',;&<>{}[\]]+`;
/**
 * A name that contains such a word, a separator, and a value: as in JSON, a query, or a configuration. A name begins only once
 * (the lookbehind) and is not shortened (the reference to the lookahead), so that the pattern takes linear time.
 */
const NAMED_SECRET = new RegExp(
  String.raw`(?<![\w.-])(?=[\w.-]*?(?:${SECRET_WORD}))(?=([\w.-]+))\1(${SEPARATOR})(?!(?:null|true|false)\b)(${VALUE})`,
  'gi',
);

/** Masks everything that looks like a secret in the text of somebody else. Idempotent. */
export function maskedText(text: string): string {
  return redactText(text)
    .replace(SECRET_HEADER, `$1 ${MASK}`)
    .replace(NAMED_SECRET, (_, name: string, separator: string, value: string) => {
      const quote = /^["']/.exec(value)?.[0] ?? '';
      return `${name}${separator}${quote}${MASK}${quote}`;
    });
}
