import { parsedUrl } from '../urls/index.js';

/** Where the database is, and who vouches for it. */
export interface DatabaseAddress {
  readonly url: string;
  /** The certificate (PEM) that alone is trusted; without one those that Node.js knows. */
  readonly authority?: string | undefined;
}

/** The same in the words of `pg`. */
export interface DriverAddress {
  readonly connectionString: string;
  readonly ssl?: { readonly ca: string };
}

/** Settings of TLS in a URL; `pg` reads the files that they name, and forgets what it was told besides. */
const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'];
/** To `pg` 8 these are names of `verify-full`; it warns that they will not stay so. */
const VERIFYING_MODES = ['prefer', 'require', 'verify-ca', 'verify-full'];
const KNOWN_MODES = [...VERIFYING_MODES, 'disable', 'no-verify'];

/** How every connection of this service goes about it: never less verified than the URL sounds. */
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

/** Whether the URL leaves the question of whom to trust to the setting beside it. */
export function allowsUnverifiedTls(url: string): boolean {
  const parameters = parsedUrl(url)?.searchParams ?? new URLSearchParams();
  const mode = parameters.get('sslmode');
  return (
    (mode === null || VERIFYING_MODES.includes(mode)) &&
    ![...TLS_FILES, 'ssl', 'uselibpqcompat'].some((name) => parameters.has(name))
  );
}

/** What OpenSSL finds wrong with a certificate, and Node.js with its names. */
const CERTIFICATE_CODES =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF))/;

export function isCertificateRefused(code: unknown): boolean {
  return typeof code === 'string' && CERTIFICATE_CODES.test(code);
}

/** Of `pg`, without a code. */
export const NO_TLS_THERE = 'The server does not support SSL connections';
