import { accessSync, constants } from 'node:fs';
import { isIPv6 } from 'node:net';
import { isOtherMachine, parsedUrl, percentDecoded, succeeds } from '../config/index.js';

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
const TLS_PARAMETERS = [...TLS_FILE_PARAMETERS, 'ssl', 'sslmode', 'sslnegotiation', 'uselibpqcompat'];
/** `pg` 8 treats these modes as `verify-full`, and warns that later versions will not. */
const VERIFYING_MODES = ['prefer', 'require', 'verify-ca', 'verify-full'];
const KNOWN_MODES = [...VERIFYING_MODES, 'disable', 'no-verify'];
/** The parameters that the driver knows. Other parameters, such as `connect_timeout`, have no effect. */
const KEPT = new Set([...TLS_PARAMETERS, 'options']);
/** Parameters without which the connection would lead elsewhere, or would be less secure, than the operator expects. */
const UNSUPPORTED = [
  'hostaddr',
  'passfile',
  'require_auth',
  'requirepeer',
  'schema',
  'service',
  'servicefile',
  'sslcrl',
  'sslcrldir',
  'sslpassword',
];

/**
 * Parses the URL of a database as libpq does: the host, the port, the user, the password and the database may also be parameters, the
 * host may be missing, and may be the folder of a Unix-domain socket. The result has them in their usual places, the folder encoded as
 * the host, and only parameters that the driver knows.
 *
 * @returns undefined if the text is not such a URL, and an unusable one if `databaseUrlProblem` finds a problem
 */
export function databaseUrl(text: string): URL | undefined {
  if (!/^postgres(?:ql)?:\/\//.test(text)) return undefined;
  // For `URL`, a user and a port require a host.
  const url = parsedUrl(text.replace(/^(\w+:\/\/(?:[^/?#]*@)?)(?=(?::\d*)?(?:[/?#]|$))/, '$1localhost'));
  if (url === undefined) return undefined;
  const { searchParams } = url;
  const host = searchParams.get('host');
  if (host) url.hostname = isIPv6(host) ? `[${host}]` : encodeURIComponent(host);
  url.port = searchParams.get('port') ?? url.port;
  const user = searchParams.get('user');
  const password = searchParams.get('password');
  if (user !== null) url.username = encodeURIComponent(user);
  if (password !== null) url.password = encodeURIComponent(password);
  // The driver decodes no reserved characters, such as a plus sign.
  const database = searchParams.get('dbname') ?? percentDecoded(url.pathname.slice(1));
  if (database) url.pathname = `/${encodeURI(database)}`;
  // Such a channel exists only with TLS.
  if (searchParams.get('channel_binding') === 'require' && !searchParams.has('sslmode'))
    searchParams.set('sslmode', 'require');
  // The authorities that Node.js trusts.
  if (searchParams.get('sslrootcert') === 'system') {
    searchParams.delete('sslrootcert');
    // As in libpq, they are not trusted without verifying the certificate.
    searchParams.set('sslmode', 'verify-full');
  }
  for (const name of new Set(searchParams.keys())) if (!KEPT.has(name)) searchParams.delete(name);
  return url;
}

/** Returns what is wrong with the URL of a database, beginning with a verb and without a secret, or undefined. */
export function databaseUrlProblem(text: string): string | undefined {
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(text)?.[1]);
  const host = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text)?.[1];
  if ([host, parameters.get('host'), parameters.get('port')].some((part) => part?.includes(',')))
    return 'must name one host, which always leads to the primary: the service cannot choose between several';
  const url = databaseUrl(text);
  const isPort = /^\d{0,5}$/.test(parameters.get('port') ?? '');
  const parts = url && [url.username, url.password, url.pathname, url.hostname];
  if (!isPort || !parts?.every((part) => percentDecoded(part) !== undefined))
    return 'must be a URL such as postgres://user:password@host:5432/database; write special characters as %XX';
  const unsupported = UNSUPPORTED.find((name) => parameters.has(name));
  if (unsupported !== undefined)
    return `must not have the parameter ${unsupported}, which the service does not support`;
  const mode = parameters.get('sslmode');
  if (mode !== null && !KNOWN_MODES.includes(mode))
    return 'must not have any sslmode other than verify-full, disable or no-verify';
  if (parameters.get('gssencmode') === 'require')
    return 'must not have gssencmode=require, which the service does not support';
  if (parameters.get('sslrootcert') === 'system' && ['disable', 'no-verify'].includes(mode ?? ''))
    return 'must not have another sslmode than verify-full with sslrootcert=system';
  const unreadable = TLS_FILE_PARAMETERS.find((name) => !isReadable(url?.searchParams.get(name) ?? null));
  return unreadable && `must name a file that can be read in the parameter ${unreadable}`;
}

function isReadable(file: string | null): boolean {
  return file === null || succeeds(() => accessSync(file, constants.R_OK));
}

/** Returns the driver's options. The certificate is never verified less strictly than the URL suggests. */
export function driverAddress({ url, authority }: DatabaseAddress): DriverAddress {
  const parsed = databaseUrl(url);
  if (!parsed) return { connectionString: url };
  const { searchParams } = parsed;
  // As in libpq, there is no TLS on a Unix-domain socket.
  if (/^%2f/i.test(parsed.hostname)) {
    for (const name of TLS_PARAMETERS) searchParams.delete(name);
    searchParams.set('sslmode', 'disable');
  } else if (authority !== undefined && !searchParams.has('uselibpqcompat')) {
    searchParams.delete('sslmode');
    return { connectionString: parsed.href, ssl: { ca: authority } };
  } else if (
    VERIFYING_MODES.includes(searchParams.get('sslmode') ?? '') &&
    !searchParams.has('uselibpqcompat')
  ) {
    searchParams.set('sslmode', 'verify-full');
  }
  return { connectionString: parsed.href };
}

/** Returns whether the URL leaves the choice of the trusted certificate to DATABASE_CA. */
export function acceptsAuthority(url: string): boolean {
  const parameters = databaseUrl(url)?.searchParams ?? new URLSearchParams();
  const mode = parameters.get('sslmode');
  return (
    (mode === null || VERIFYING_MODES.includes(mode)) &&
    ![...TLS_FILE_PARAMETERS, 'ssl', 'uselibpqcompat'].some((name) => parameters.has(name))
  );
}

/** Returns whether the URL alone leads to another machine without TLS. */
export function isUnencrypted(url: string): boolean {
  const parsed = databaseUrl(url);
  if (!parsed) return false;
  const { hostname, searchParams: parameters } = parsed;
  const usesTls =
    (parameters.get('sslmode') ?? 'disable') !== 'disable' ||
    /^(?:true|1)$/.test(parameters.get('ssl') ?? '') ||
    TLS_FILE_PARAMETERS.some((name) => parameters.has(name));
  return !usesTls && isOtherMachine(percentDecoded(hostname) ?? hostname);
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
  return percentDecoded(databaseUrl(url)?.username ?? '') || undefined;
}
