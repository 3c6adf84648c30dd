import { parsedUrl } from '../config/index.js';

export interface DatabaseAddress {
  readonly url: string;
  /** Certificate (PEM) of the only trusted authority. The default is the authorities that Node.js trusts. */
  readonly authority?: string | undefined;
  /** The variable that the URL comes from, for messages. The default is `DATABASE_URL`. */
  readonly variable?: string;
}

export interface DriverAddress {
  readonly connectionString: string;
  readonly ssl?: { readonly ca: string };
}

/** URL parameters that name certificate and key files. If the URL has one of them, `pg` ignores its `ssl` option. */
const TLS_FILE_PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey'];
/** `pg` 8 treats these modes as `verify-full`, and warns that later versions will not. */
const VERIFYING_MODES = ['prefer', 'require', 'verify-ca', 'verify-full'];
const KNOWN_MODES = [...VERIFYING_MODES, 'disable', 'no-verify'];

/** Returns the driver's options. The certificate is never verified less strictly than the URL suggests. */
export function driverAddress({ url, authority }: DatabaseAddress): DriverAddress {
  const parsed = parsedUrl(url);
  if (!parsed || parsed.searchParams.has('uselibpqcompat')) return { connectionString: url };
  const mode = parsed.searchParams.get('sslmode');
  if (authority !== undefined) {
    parsed.searchParams.delete('sslmode');
    return { connectionString: parsed.href, ssl: { ca: authority } };
  }
  if (mode === null || !VERIFYING_MODES.includes(mode)) return { connectionString: url };
  parsed.searchParams.set('sslmode', 'verify-full');
  return { connectionString: parsed.href };
}

export function hasKnownTlsMode(url: unknown): boolean {
  const mode = parsedUrl(url as string)?.searchParams.get('sslmode') ?? null;
  return mode === null || KNOWN_MODES.includes(mode);
}

/** Returns whether the URL leaves the choice of the trusted certificate to DATABASE_CA. */
export function acceptsAuthority(url: string): boolean {
  const parameters = parsedUrl(url)?.searchParams ?? new URLSearchParams();
  const mode = parameters.get('sslmode');
  return (
    (mode === null || VERIFYING_MODES.includes(mode)) &&
    ![...TLS_FILE_PARAMETERS, 'ssl', 'uselibpqcompat'].some((name) => parameters.has(name))
  );
}

/** Error codes of OpenSSL for a bad certificate, and of Node.js for a wrong name in it. */
const CERTIFICATE_CODES =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF))/;

export function isCertificateRefused(code: unknown): boolean {
  return typeof code === 'string' && CERTIFICATE_CODES.test(code);
}

/** Message of an error of `pg` that has no code. */
export const TLS_NOT_SUPPORTED = 'The server does not support SSL connections';

/** Returns the role of a database URL, or undefined if the URL does not name one. */
export function roleOf(url: string): string | undefined {
  const { username = '' } = parsedUrl(url) ?? {};
  return username === '' ? undefined : decodeURIComponent(username);
}
