import type { ConnectionOptions } from 'node:tls';
import {
  Configuration,
  EnvironmentVariable,
  isCertificate,
  isOtherMachine,
  parsedUrl,
  Satisfies,
  trustedWith,
  type EncryptionRules,
} from '../config/index.js';

const DEFAULT_PORT = 6379;

/** Returns the URL with the scheme of Redis: providers of Valkey write its name. */
const urlOf = (text: string): URL | undefined => parsedUrl(text.replace(/^valkey(?=s?:)/i, 'redis'));

/** Checks every part, because the client would fail later with a message that names no variable. */
function isRedisUrl(text: string): boolean {
  const url = urlOf(text);
  if (url === undefined || !/^rediss?:$/.test(url.protocol)) return false;
  const { hostname, username, password, pathname, search, hash } = url;
  return (
    hostname !== '' &&
    (username === '' || password !== '') &&
    [username, password].every((part) => !/%(?![0-9a-f]{2})/i.test(part)) &&
    /^(?:\/\d{0,3})?$/.test(pathname) &&
    // Which family an address has does not matter here: both are tried.
    /^(?:\?family=[046])?$/.test(search + hash)
  );
}

/** The nodes of a cluster share their protocol, user and password, and have no database but 0. */
function areOfOneCluster(texts: readonly string[]): boolean {
  const urls = texts.flatMap((text) => urlOf(text) ?? []);
  const prefixes = urls.map(({ protocol, username, password }) => `${protocol}${username}:${password}`);
  return new Set(prefixes).size === 1 && urls.every(({ pathname }) => /^\/?0?$/.test(pathname));
}

const areRedisUrls = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isRedisUrl) && (value.length < 2 || areOfOneCluster(value));

@Configuration('Redis')
export class RedisConfiguration implements EncryptionRules {
  @EnvironmentVariable(
    'REDIS_URL',
    'Redis server in which several processes count rate limits together: `redis://user:password@host:6379/0`, or `rediss://` for TLS (`valkey://` and `valkeys://` mean the same). For a Redis Cluster, set several addresses separated by commas, with the same user and password; repeat the address if there is only one. Without it, each process counts in memory.',
    { secret: true },
  )
  @Satisfies(
    areRedisUrls,
    'urls must be a URL such as redis://user:password@host:6379/0, or several of one Redis Cluster without a database; special characters are written as %XX',
  )
  urls?: string[];

  @EnvironmentVariable(
    'REDIS_CA',
    'Certificate (PEM) of a private certificate authority to trust in addition to the public ones, and to those of `NODE_EXTRA_CA_CERTS`, for connections to Redis.',
  )
  @Satisfies(isCertificate, 'authority must be a certificate in PEM')
  authority?: string;

  get isCluster(): boolean {
    return this.parsed.length > 1;
  }

  get addresses(): readonly { readonly host: string; readonly port: number }[] {
    return this.parsed.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
    }));
  }

  get credentials(): { readonly username?: string; readonly password?: string } {
    const { username = '', password = '' } = this.parsed[0] ?? {};
    return {
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    };
  }

  get database(): number {
    return Number(this.parsed[0]?.pathname.slice(1) ?? 0);
  }

  get tls(): ConnectionOptions | undefined {
    if (this.parsed[0]?.protocol !== 'rediss:') return undefined;
    return {
      minVersion: 'TLSv1.2',
      ...(this.authority === undefined ? {} : { ca: trustedWith(this.authority) }),
    };
  }

  unencryptedSettings(): string[] {
    const isPlain = this.parsed.some(
      ({ protocol, hostname }) => protocol === 'redis:' && isOtherMachine(hostname),
    );
    return isPlain ? ['REDIS_URL'] : [];
  }

  private get parsed(): readonly URL[] {
    return (this.urls ?? []).flatMap((url) => urlOf(url) ?? []);
  }
}
