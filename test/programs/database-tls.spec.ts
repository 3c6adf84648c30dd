import { chownSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { loadConfiguration } from '../../src/infrastructure/config/index.js';
import { driverAddress } from '../../src/infrastructure/database/database-address.js';
import { checkDatabase, migrate } from '../../src/infrastructure/database/index.js';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/infrastructure/embedded-postgres/index.js';
import { eventually } from '../support/eventually.js';
import {
  RECEIVER_CERTIFICATES,
  RECEIVER_KEY,
  TEST_AUTHORITY,
} from '../support/webhooks/receiver-certificates.js';
import { useTestApp } from '../support/test-app.js';

const TIMEOUT = 60_000;
/** An authority that did not issue the certificate. */
const OTHER_AUTHORITY = RECEIVER_CERTIFICATES.selfSigned;
const NOT_TRUSTED =
  /^The certificate of the database at 127\.0\.0\.1:\d+ is not trusted \(([A-Z_]+)\)\. Check that DATABASE_CA is the certificate of its authority, and that it is issued for the host in DATABASE_URL\.$/;

let server: EmbeddedPostgres;
let admin: pg.Client;

/** Starts a PostgreSQL that accepts only TLS connections. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  server = await startEmbeddedPostgres({ directory: join(folder, 'postgres'), durable: false });
  const { uid, gid } = statSync(server.directory);
  const key = join(server.directory, 'server.key');
  writeFileSync(key, RECEIVER_KEY, { mode: 0o600 });
  chownSync(key, uid, gid);
  admin = new pg.Client(server.url);
  await admin.connect();
  await present('trusted');
  await admin.query('ALTER SYSTEM SET ssl = on');
  const rules = join(server.directory, 'pg_hba.conf');
  writeFileSync(rules, readFileSync(rules, 'utf8').replaceAll(/^host\b/gm, 'hostssl'));
  await reload();
}, TIMEOUT);
afterAll(async () => {
  await admin.end();
  // Stopping the server first queries its other clients, without TLS.
  const rules = join(server.directory, 'pg_hba.conf');
  writeFileSync(rules, readFileSync(rules, 'utf8').replaceAll('hostssl', 'host'));
  await server.release();
}, TIMEOUT);

/** Makes the server use this certificate for new connections. */
async function present(certificate: keyof typeof RECEIVER_CERTIFICATES): Promise<void> {
  writeFileSync(join(server.directory, 'server.crt'), RECEIVER_CERTIFICATES[certificate]);
  await reload();
}

async function reload(): Promise<void> {
  const before = await loadedAt();
  await admin.query('SELECT pg_reload_conf()');
  await eventually('the settings are read', async () => (await loadedAt()) > before);
}

async function loadedAt(): Promise<Date> {
  const { rows } = await admin.query<{ at: Date }>('SELECT pg_conf_load_time() AS at');
  return rows[0]?.at ?? new Date(0);
}

const withMode = (mode: string): string => `${server.url}?sslmode=${mode}`;

async function messageOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'no error',
    (error: Error) => error.message,
  );
}

describe('A database that requires TLS', () => {
  describe('with DATABASE_CA', () => {
    beforeAll(() => migrate(server.url, TEST_AUTHORITY), TIMEOUT);
    const service = useTestApp(() => ({ DATABASE_URL: server.url, DATABASE_CA: TEST_AUTHORITY }), {
      backgroundWork: true,
    });

    it('is connected over TLS by every connection of the service', async () => {
      const login = await service.login();
      await service.request('/request-logs?environment=development', { login });
      const connections = await eventually('all connections are open', async () => {
        const { rows } = await admin.query<{ name: string; ssl: boolean }>(
          `SELECT DISTINCT application_name AS name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
            WHERE application_name LIKE 'merchant-connectivity-service%' ORDER BY 1`,
        );
        return rows.length >= 3 ? rows : undefined;
      });
      // Background work has connections of its own, for a moment.
      expect(connections).toEqual(
        expect.arrayContaining([
          { name: 'merchant-connectivity-service', ssl: true },
          { name: 'merchant-connectivity-service notifications', ssl: true },
          { name: 'merchant-connectivity-service request-logs', ssl: true },
        ]),
      );
      expect(connections.filter(({ ssl }) => !ssl)).toEqual([]);
    });

    it('counts as unavailable while its certificate is not trusted', async () => {
      await present('wrongHost');
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'merchant-%'`,
      );
      const createToken = () =>
        service.request('/mcp/tokens/create', {
          body: { external_user_id: 'user' },
          as: service.development,
        });
      expect((await createToken()).status).toBe(503);
      expect((await service.request('/readyz')).status).toBe(503);
      await present('trusted');
      await eventually('the service has recovered', async () => (await createToken()).status === 200);
    });
  });

  it('is accepted with the right certificate authority, however it is configured', async () => {
    for (const [url, authority] of [
      [server.url, TEST_AUTHORITY],
      [withMode('verify-full'), TEST_AUTHORITY],
      [withMode('require'), TEST_AUTHORITY],
      [withMode('no-verify'), undefined],
    ] as const) {
      await checkDatabase(url, authority);
    }
  });

  it.each<[string, keyof typeof RECEIVER_CERTIFICATES, string | undefined, string, string]>([
    ['another authority', 'trusted', OTHER_AUTHORITY, '', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['a self-signed certificate', 'selfSigned', TEST_AUTHORITY, '', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['another host', 'wrongHost', TEST_AUTHORITY, '', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['an expired certificate', 'expired', TEST_AUTHORITY, '', 'CERT_HAS_EXPIRED'],
    [
      'a private authority and none named',
      'trusted',
      undefined,
      '?sslmode=verify-full',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    [
      'the same with a mode that sounds weaker',
      'trusted',
      undefined,
      '?sslmode=require',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
  ])('is rejected with an explanation for %s', async (_what, certificate, authority, mode, code) => {
    await present(certificate);
    const refusal = await messageOf(checkDatabase(`${server.url}${mode}`, authority));
    await present('trusted');
    expect(refusal).toMatch(NOT_TRUSTED);
    expect(NOT_TRUSTED.exec(refusal)?.[1]).toBe(code);
  });

  it('explains that TLS is required, or not supported', async () => {
    expect(await messageOf(checkDatabase(server.url))).toMatch(
      /^The database at 127\.0\.0\.1:\d+ requires TLS: add \?sslmode=verify-full to DATABASE_URL, or set DATABASE_CA\.$/,
    );
    expect(await messageOf(checkDatabase(process.env.TEST_TEMPLATE_URL ?? '', TEST_AUTHORITY))).toMatch(
      /^The database at 127\.0\.0\.1:\d+ does not support TLS, which DATABASE_URL, DATABASE_CA or the environment variable PGSSLMODE requires\.$/,
    );
  });
});

describe('TLS settings', () => {
  const URL = 'postgres://user:password@db.example.com/service';

  it.each([
    ['prefer', 'verify-full'],
    ['require', 'verify-full'],
    ['verify-ca', 'verify-full'],
    ['verify-full', 'verify-full'],
    ['disable', 'disable'],
    ['no-verify', 'no-verify'],
  ])('convert sslmode=%s to %s', (mode, expected) => {
    expect(driverAddress({ url: `${URL}?sslmode=${mode}` })).toEqual({
      connectionString: `${URL}?sslmode=${expected}`,
    });
  });

  it.each<[RegExp, Record<string, string>]>([
    [/^ {2}- DATABASE_URL must not have any sslmode other than/m, { DATABASE_URL: `${URL}?sslmode=allow` }],
    [/^ {2}- DATABASE_CA must be a certificate in PEM\.$/m, { DATABASE_CA: 'no certificate' }],
    ...['sslmode=disable', 'sslmode=no-verify', 'sslrootcert=/ca.pem', 'ssl=0'].map(
      (setting): [RegExp, Record<string, string>] => [
        /^ {2}- DATABASE_CA must be the only TLS setting: remove/m,
        { DATABASE_URL: `${URL}?${setting}`, DATABASE_CA: TEST_AUTHORITY },
      ],
    ),
  ])('are rejected if unknown or contradictory: %s', (problem, environment) => {
    expect(() => loadConfiguration(environment)).toThrow(problem);
  });
});
