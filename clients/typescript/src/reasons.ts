/** Codes of Node.js for a certificate whose authority it does not know. */
const UNKNOWN_AUTHORITY = new Set([
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
/** Codes for an address that cannot be reached, perhaps because only a proxy can reach it. */
const UNREACHABLE = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

interface Runtime {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly execArgv?: readonly string[];
}

interface Cause {
  readonly message?: string;
  readonly code?: string;
  readonly errors?: readonly Cause[];
}

/** Returns why there was no response, and what to do about it if that is known. The reason of a failed `fetch` is in its cause. */
export function reasonOf(error: unknown, url: string, isGlobalFetch: boolean): string {
  const { message, cause } = error as Error & { readonly cause?: Cause };
  const { code = '', errors = [], message: reason } = cause ?? {};
  // An error for several addresses has a code only.
  return `${reason || code || message}.${remedyOf(code || (errors[0]?.code ?? ''), url, isGlobalFetch)}`;
}

function remedyOf(code: string, url: string, isGlobalFetch: boolean): string {
  if (UNKNOWN_AUTHORITY.has(code))
    return ' If the authority of your company has signed the certificate, set NODE_EXTRA_CA_CERTS to the file with its certificate.';
  const variable = isGlobalFetch && UNREACHABLE.has(code) ? unusedProxyOf(url) : undefined;
  if (variable === undefined) return '';
  return ` ${variable} is set, but fetch does not use it: set NODE_USE_ENV_PROXY=1 (Node.js 22.21 or 24.5), or pass a fetch that does (/docs/typescript).`;
}

/** Returns the variable that names a proxy for the address, if Node.js ignores it. */
function unusedProxyOf(url: string): string | undefined {
  const { env = {}, execArgv = [] } = (globalThis as { readonly process?: Runtime }).process ?? {};
  const { NODE_USE_ENV_PROXY: isUsed, NODE_OPTIONS: options = '' } = env;
  if (isUsed === '1' || [...execArgv, options].some((each) => each.includes('--use-env-proxy')))
    return undefined;
  const name = new URL(url).protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  return [name, name.toUpperCase()].find((each) => env[each]);
}
