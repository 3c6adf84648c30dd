import { rootCertificates, type ConnectionOptions } from 'node:tls';
import { IsOptional } from 'class-validator';
import { Configuration, EnvironmentVariable, isCertificate, Satisfies } from '../config/index.js';
import { parsedUrl } from '../urls/index.js';

const DEFAULT_PORT = 6379;

/** Where a server listens. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** How to introduce oneself to it. */
export interface RedisCredentials {
  readonly username?: string;
  readonly password?: string;
}

/** Every part must be readable, or the client fails later in words that name no variable. */
function isRedisUrl(text: string): boolean {
  const url = parsedUrl(text);
  if (url === undefined || !/^rediss?:$/.test(url.protocol)) return false;
  const { hostname, username, password, pathname, search, hash } = url;
  return (
    hostname !== '' &&
    (username === '' || password !== '') &&
    [username, password].every((part) => !/%(?![0-9a-f]{2})/i.test(part)) &&
    /^(?:\/\d{0,3})?$/.test(pathname) &&
    search + hash === ''
  );
}

/** Nodes of a cluster are met in the same way, and have one database. */
function areOfOneCluster(texts: readonly string[]): boolean {
  const urls = texts.map((text) => new URL(text));
  const manners = urls.map(({ protocol, username, password }) => `${protocol}${username}:${password}`);
  return new Set(manners).size === 1 && urls.every(({ pathname }) => /^\/?0?$/.test(pathname));
}

const areRedisUrls = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isRedisUrl) && (value.length < 2 || areOfOneCluster(value));

/** What several processes share besides PostgreSQL. */
@Configuration('Redis')
export class RedisConfiguration {
  @EnvironmentVariable(
    'REDIS_URL',
    'Where several processes count rate limits together, as `redis://user:password@host:6379/0`, or `rediss://` for TLS. Several addresses separated by commas, with the same user and password, are nodes of a Redis Cluster; one with a single address is named twice. Without it each process counts for itself.',
    { secret: true },
  )
  @IsOptional()
  @Satisfies(
    'areRedisUrls',
    areRedisUrls,
    'urls must be a URL such as redis://user:password@host:6379/0, or several of one Redis Cluster without a database; special characters are written as %XX',
  )
  urls?: string[];

  @EnvironmentVariable(
    'REDIS_CA',
    'Certificate of an authority (PEM) that is trusted beside the usual ones, for a Redis with a private one.',
  )
  @IsOptional()
  @Satisfies('isCertificate', isCertificate, 'authority must be a certificate in PEM')
  authority?: string;

  get isCluster(): boolean {
    return this.parsed.length > 1;
  }

  get addresses(): readonly RedisAddress[] {
    return this.parsed.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
    }));
  }

  get credentials(): RedisCredentials {
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
      ...(this.authority === undefined ? {} : { ca: [...rootCertificates, this.authority] }),
    };
  }

  private get parsed(): readonly URL[] {
    return (this.urls ?? []).map((url) => new URL(url));
  }
}
