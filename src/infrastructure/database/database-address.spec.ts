import { TEST_AUTHORITY } from '../../../test/support/webhooks/receiver-certificates.js';
import { loadConfiguration } from '../config/index.js';
import { Client } from './client.js';
import { driverAddress, roleOf, type DatabaseAddress } from './database-address.js';
import { DatabaseConfiguration } from './database.configuration.js';

/** Returns where the driver would connect to. */
function target(address: DatabaseAddress) {
  const { host, port, user, database, ssl, connectionParameters } = new Client(
    driverAddress(address),
  ) as Client & {
    readonly ssl: unknown;
    readonly connectionParameters: { readonly password?: string; readonly options?: string };
  };
  const { password, options } = connectionParameters;
  return { host, port, user, password, database, ...(ssl !== false && { ssl }), ...(options && { options }) };
}

const load = (environment: Record<string, string>): DatabaseConfiguration =>
  loadConfiguration(environment).get(DatabaseConfiguration);

const SERVICE = { host: 'db', port: 5432, user: 'service', password: 'secret', database: 'orders' };
const SOCKET = { ...SERVICE, host: '/run/pg' };

describe('The URL of a database', () => {
  it.each<[string, object]>([
    ['postgres://service:secret@db/orders', SERVICE],
    ['postgresql://service:secret@db:5432/orders', SERVICE],
    ['postgres://db/orders?user=service&password=secret', SERVICE],
    ['postgres://service:secret@/orders?host=db', SERVICE],
    ['postgres://service:secret@:5433/orders?host=db', { ...SERVICE, port: 5433 }],
    ['postgres://service:secret@/?host=db&port=5433&dbname=orders', { ...SERVICE, port: 5433 }],
    ['postgres:///orders?host=db&user=service&password=secret', SERVICE],
    ['postgres://?host=db&user=service&password=secret&dbname=orders', SERVICE],
    ['postgres://service:secret@/orders', { ...SERVICE, host: 'localhost' }],
    ['postgres://service:secret@[2001:db8::1]:5433/orders', { ...SERVICE, host: '2001:db8::1', port: 5433 }],
    ['postgres://service:secret@/orders?host=2001:db8::1', { ...SERVICE, host: '2001:db8::1' }],
    // Folders of sockets.
    ['postgres://service:secret@/orders?host=/run/pg', SOCKET],
    ['postgres:///orders?host=/run/pg&user=service&password=secret', SOCKET],
    ['postgres://service:secret@%2Frun%2Fpg/orders', SOCKET],
    ['postgres://service:secret@%2frun%2fpg:5433/orders', { ...SOCKET, port: 5433 }],
    ['postgres://service:secret@localhost/orders?host=/run/pg&port=5433', { ...SOCKET, port: 5433 }],
    [
      'postgres://service:secret@/orders?host=/cloudsql/project:region:instance',
      { ...SERVICE, host: '/cloudsql/project:region:instance' },
    ],
    // As in libpq, without TLS.
    ['postgres://service:secret@/orders?host=/run/pg&sslmode=require', SOCKET],
    // Special characters.
    [
      'postgres://se%40rvice:s%2Fe%25%20c@db/my%20orders',
      { ...SERVICE, user: 'se@rvice', password: 's/e% c', database: 'my orders' },
    ],
    ['postgres://:secret@db/orders?user=se@rvice', { ...SERVICE, user: 'se@rvice' }],
    ['postgres://service:secret@db/orders%2B1', { ...SERVICE, database: 'orders+1' }],
    [
      'postgres://service:secret@db/?dbname=bestellungen%20%C3%A4',
      { ...SERVICE, database: 'bestellungen ä' },
    ],
    // Parameters of providers and of other drivers.
    ['postgres://service:secret@db/orders?connect_timeout=10&application_name=x&keepalives=1', SERVICE],
    ['postgres://service:secret@db/orders?pgbouncer=true&connection_limit=5', SERVICE],
    ['postgres://service:secret@db/orders?target_session_attrs=read-write&gssencmode=disable', SERVICE],
    ['postgres://service:secret@db/orders?sslmode=require&channel_binding=require', { ...SERVICE, ssl: {} }],
    ['postgres://service:secret@db/orders?channel_binding=require', { ...SERVICE, ssl: {} }],
    ['postgres://service:secret@db/orders?sslmode=verify-full&sslrootcert=system', { ...SERVICE, ssl: {} }],
    ['postgres://service:secret@db/orders?sslrootcert=system', { ...SERVICE, ssl: {} }],
    [
      'postgres://service:secret@db/orders?options=-c%20work_mem%3D64MB',
      { ...SERVICE, options: '-c work_mem=64MB' },
    ],
  ])('%s has the parts that libpq reads', (url, parts) => {
    expect(load({ DATABASE_URL: url }).url).toBe(url);
    expect(target({ url })).toEqual(parts);
  });

  it('names the role, wherever it stands', () => {
    expect(
      ['postgres://a%40b@/db?host=/run', 'postgres:///db?user=a@b', 'postgres:///db'].map(roleOf),
    ).toEqual(['a@b', 'a@b', undefined]);
  });

  it('is connected with TLS if there is an authority, except for a socket', () => {
    expect(target({ url: 'postgres://u:p@/db?host=db', authority: TEST_AUTHORITY })).toMatchObject({
      ssl: { ca: TEST_AUTHORITY },
    });
    expect(target({ url: 'postgres://u:p@/db?host=/run', authority: TEST_AUTHORITY })).not.toHaveProperty(
      'ssl',
    );
  });

  const NOT_A_URL =
    'must be a URL such as postgres://user:password@host:5432/database; write special characters as %XX.';
  const SEVERAL =
    'must name one host, which always leads to the primary: the service cannot choose between several.';
  it.each([
    ['host=db user=service', NOT_A_URL],
    ['mysql://service:pass-word@db/orders', NOT_A_URL],
    ['postgres://service:pass-word%@db/orders', NOT_A_URL],
    ['postgres://service:pass-word%E4@db/orders', NOT_A_URL],
    ['postgres://service:pass#word@db/orders', NOT_A_URL],
    ['postgres://service:pass-word@db:port/orders', NOT_A_URL],
    ['postgres://service:pass-word@/orders?host=db&port=pass-word', NOT_A_URL],
    ['postgres://service:pass-word@one,two/orders', SEVERAL],
    ['postgres://service:pass-word@one:5432,two:5433/orders', SEVERAL],
    ['postgres://service:pass-word@/orders?host=one,two', SEVERAL],
    ['postgres://service:pass-word@/orders?host=one&port=1,2', SEVERAL],
    ...['service', 'passfile', 'hostaddr', 'sslcrl', 'schema'].map((name) => [
      `postgres://service:pass-word@db/orders?${name}=pass-word`,
      `must not have the parameter ${name}, which the service does not support.`,
    ]),
    [
      'postgres://service:pass-word@db/orders?sslmode=disable&sslrootcert=system',
      'must not have another sslmode than verify-full with sslrootcert=system.',
    ],
    [
      'postgres://service:pass-word@db/orders?gssencmode=require',
      'must not have gssencmode=require, which the service does not support.',
    ],
    [
      'postgres://service:pass-word@db/orders?sslmode=verify-full&sslrootcert=/none/pass-word',
      'must name a file that can be read in the parameter sslrootcert.',
    ],
  ])('%s is refused, without a secret', (url, sentence) => {
    for (const name of ['DATABASE_URL', 'DATABASE_READ_URL', 'DATABASE_OWNER_URL']) {
      const refuse = (): unknown => load({ DATABASE_URL: 'postgres://other@db/orders', [name]: url });
      expect(refuse).toThrow(`  - ${name} ${sentence}`);
      expect(refuse).not.toThrow('pass-word');
    }
  });

  it('accepts files of certificates that exist', () => {
    const url = `postgres://service@db/orders?sslrootcert=${encodeURIComponent(import.meta.filename)}`;
    expect(load({ DATABASE_URL: url }).url).toBe(url);
  });
});
