import { rootCertificates } from 'node:tls';
import { TEST_AUTHORITY } from '../../../test/support/webhooks/receiver-certificates.js';
import { loadConfiguration } from '../config/index.js';
import { RedisConfiguration } from './redis.configuration.js';

const load = (environment: Record<string, string>): RedisConfiguration =>
  loadConfiguration(environment).get(RedisConfiguration);
const of = (url: string): RedisConfiguration => load({ REDIS_URL: url });

describe('RedisConfiguration', () => {
  it('is optional', () => {
    expect(load({}).urls).toBeUndefined();
  });

  it.each([
    ['redis://localhost', { host: 'localhost', port: 6379 }, {}, 0],
    ['redis://[::1]:7000/', { host: '::1', port: 7000 }, {}, 0],
    ['redis://:p%40ss%2C@10.0.0.2/15', { host: '10.0.0.2', port: 6379 }, { password: 'p@ss,' }, 15],
    ['valkey://:p@host', { host: 'host', port: 6379 }, { password: 'p' }, 0],
    [
      'valkeys://default:p@host:25061',
      { host: 'host', port: 25_061 },
      { username: 'default', password: 'p' },
      0,
    ],
    [
      'redis://:p@redis.railway.internal:6379?family=0',
      { host: 'redis.railway.internal', port: 6379 },
      { password: 'p' },
      0,
    ],
    ['rediss://us%3Aer:p@host:1', { host: 'host', port: 1 }, { username: 'us:er', password: 'p' }, 0],
  ])('reads %s', (url, address, credentials, database) => {
    const configuration = of(url);
    expect(configuration.addresses).toEqual([address]);
    expect(configuration).toMatchObject({ database, isCluster: false });
    expect(configuration.credentials).toEqual(credentials);
    expect(configuration.tls !== undefined).toBe(/^(?:rediss|valkeys):/.test(url));
  });

  it('reads the addresses of a cluster', () => {
    const configuration = of('rediss://u:p@one:7000, rediss://u:p@two:7001/0');
    expect(configuration).toMatchObject({ isCluster: true, database: 0 });
    expect(configuration.addresses).toEqual([
      { host: 'one', port: 7000 },
      { host: 'two', port: 7001 },
    ]);
    expect(configuration.credentials).toEqual({ username: 'u', password: 'p' });
    expect(of('redis://only:7000,redis://only:7000').isCluster).toBe(true);
  });

  it('trusts a private authority in addition to the public ones', () => {
    expect(of('rediss://host').tls).not.toHaveProperty('ca');
    const { ca } = load({ REDIS_URL: 'rediss://host', REDIS_CA: TEST_AUTHORITY }).tls ?? {};
    expect(ca).toEqual(expect.arrayContaining([...rootCertificates, TEST_AUTHORITY.trimEnd()]));
  });

  it.each([
    'localhost:6379',
    'http://secret-word@host',
    'redis:///0',
    'redis://secret-word@host',
    'redis://:secret-word%@host',
    'redis://:secret-word@host/zero',
    'redis://:secret-word@host?db=1',
    'redis://:secret-word@host,,redis://:secret-word@other',
    'redis://:secret-word@one,redis://two',
    'redis://:secret-word@one/1,redis://:secret-word@two/1',
    'redis://one,rediss://two',
    'valkey://one,valkeys://two',
    'valkeyx://one',
    'redis://host?family=7',
  ])('refuses %s without quoting it', (url) => {
    expect(() => of(url)).toThrow('REDIS_URL must be a URL such as redis://user:password@host:6379/0, or');
    expect(() => of(url)).toThrow(
      expect.not.objectContaining({ message: expect.stringMatching('secret-word') }),
    );
  });

  it('refuses an invalid certificate', () => {
    expect(() => load({ REDIS_CA: 'none' })).toThrow('REDIS_CA must be a certificate in PEM.');
  });
});
