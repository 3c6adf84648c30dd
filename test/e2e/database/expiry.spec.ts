import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { DataSource } from 'typeorm';
import {
  DailyPartitions,
  ExpiryJob,
  JobLock,
  PartitionRotation,
} from '../../../src/infrastructure/database/index.js';
import { DAY, HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { TokenSigningKeysService } from '../../../src/modules/oauth/index.js';
import { TokenSigningKeysJob } from '../../../src/modules/oauth/tokens/token-signing-keys.job.js';
import { RequestLogRollupsJob } from '../../../src/modules/request-logs/rollups/request-log-rollups.job.js';
import { setClock } from '../../support/clock.js';
import { logLines } from '../../support/logs/log-lines.js';
import { startTestApp, useTestApp } from '../../support/test-app.js';

const service = useTestApp();

const run = () => service.app.get(ExpiryJob).run();
const countsLeft = () => service.database.query('SELECT key FROM attempt_count ORDER BY key');

describe('Expiry of rows', () => {
  beforeEach(async () => {
    await service.database.query('TRUNCATE attempt_count, revoked_access_token');
    await service.database.query(
      `INSERT INTO attempt_count (key, points, expire)
       SELECT 'expired ' || n, 1, extract(epoch FROM now()) * 1000 - n FROM generate_series(1, 2500) n
       UNION ALL VALUES ('current', 1, extract(epoch FROM now()) * 1000 + 60000), ('endless', 1, NULL)`,
    );
  });

  it('knows all entities of the sources', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
    const sources = files
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => readFileSync(`src/${file}`, 'utf8'));
    const tables = [...sources.join('').matchAll(/@Entity\(\{ name: '(\w+)'/g)].map(([, name]) => name);
    const { entityMetadatas } = service.app.get(DataSource);
    expect(entityMetadatas.map(({ tableName }) => tableName).toSorted()).toEqual(tables.toSorted());
  });

  it('follows the rules of all entities', () => {
    const days = service.app
      .get(ExpiryJob)
      .rules()
      .map(({ entity, property, keepFor }) => [`${entity}.${property}`, keepFor / DAY]);
    expect(Object.fromEntries(days)).toEqual({
      'AgentAuthorization.expiresAt': 0,
      'AgentConnection.expiresAt': 7,
      'AgentConnectionCode.expiresAt': 1,
      'AttemptCount.expire': 0,
      'Customer.lastSeenAt': 365,
      'CustomerFailure.day': 8,
      'DashboardSession.expiresAt': 0,
      'IdempotencyKey.createdAt': 1,
      'MerchantSignOut.createdAt': 30,
      'OutgoingEmail.expiresAt': 30,
      'PasskeyChallenge.expiresAt': 0,
      'PasswordLink.expiresAt': 0,
      'PasswordResetRequest.createdAt': (30 * MINUTE) / DAY,
      'DeviceAuthorization.expiresAt': 1,
      'DevicePollState.acceptedAt': 1,
      'RegisteredAgent.unusedSince': 25 / 24,
      'RequestLogFile.writtenAt': 30,
      'RevokedAccessToken.expiresAt': 1,
      'SignInLink.expiresAt': 7,
      'Session.expiresAt': 30,
      'SsoAttempt.createdAt': 30,
      'SubmittedForm.createdAt': (10 * MINUTE) / DAY,
      'JobApplication.receivedAt': 365,
      'JobFailure.lastAt': 1,
      'KnownBrowser.loggedInAt': 365,
      'UsedAssertion.expiresAt': 1 / 24,
      'UserErasure.finishedAt': 365,
      'Resend.finishedAt': 90,
    });
  });

  it('has an index of the time for each rule, because some tables have as many rows as strangers want', async () => {
    const rules = service.app.get(ExpiryJob).rules();
    const indexed = await service.database.query<{ place: string }>(
      `SELECT relname || '.' || attname AS place
         FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
         JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]`,
    );
    const places = new Set(indexed.map(({ place }) => place));
    // Few rows: one for each cause of a failure, and each file. Each poll of a device would have to change an index.
    const small = ['job_failure.last_at', 'request_log_file.written_at', 'device_poll.accepted_at'];
    const missing = rules
      .map(({ table, column }) => `${table}.${column}`)
      .filter((place) => !places.has(place));
    expect(missing.filter((place) => !small.includes(place))).toEqual([]);
  });

  it('keeps rows that wait for work, however old they are', async () => {
    const { clientId } = service.development;
    await service.database.query(
      `INSERT INTO agent_connection (id, client_id, external_user_id, agent_id, agent_name, agent_host, scopes, created_at,
                                     used_at, expires_at, ended_at, ended_by)
       SELECT gen_random_uuid(), $1, state, 'agent', 'Agent', 'agent.example.com', '{}', time, time, time, time,
              CASE state WHEN 'waiting' THEN '{}'::jsonb END
         FROM unnest(ARRAY['waiting', 'done']) state, (SELECT now() - interval '8 days' AS time) old`,
      [clientId],
    );
    await service.database.query(
      `INSERT INTO sign_in_link (id, token_hash, client_id, environment, external_user_id, merchant_id, status, created_at,
                                 expires_at, finished_at, sign_in_id)
       SELECT gen_random_uuid(), state::bytea, $1, 'development', state, 16, 'pending', time, time,
              CASE state WHEN 'waiting' THEN NULL ELSE time END, CASE state WHEN 'to undo' THEN gen_random_uuid() END
         FROM unnest(ARRAY['waiting', 'to undo', 'done']) state, (SELECT now() - interval '8 days' AS time) old`,
      [clientId],
    );
    await run();
    const left = await service.database.query<{ left: string }>(
      `SELECT 'connection ' || external_user_id AS left FROM agent_connection
        UNION ALL SELECT 'link ' || external_user_id FROM sign_in_link ORDER BY 1`,
    );
    expect(left.map((row) => row.left)).toEqual(['connection waiting', 'link to undo', 'link waiting']);
  });

  it('deletes detected accounts only if a setting says when', async () => {
    const { clientId } = service.development;
    const add = (client: string, days: number, application = service): Promise<unknown> =>
      application.database.query(
        `INSERT INTO detected_account (client_id, external_user_id, merchant_id, detected_at)
         VALUES ($1, 'user-1', 16, now() - $2 * interval '1 day'), ($1, 'user-2', 16, now())`,
        [client, days],
      );
    const users = (application = service): Promise<unknown> =>
      application.database.query('SELECT external_user_id FROM detected_account ORDER BY 1');
    const [first, second] = [{ external_user_id: 'user-1' }, { external_user_id: 'user-2' }];
    await add(clientId, 10_000);
    await run();
    expect(await users()).toEqual([first, second]);

    await using limited = await startTestApp({ DETECTED_ACCOUNT_RETENTION_DAYS: '30' });

    await add(limited.development.clientId, 31, limited);
    await limited.app.get(ExpiryJob).run();
    expect(await users(limited)).toEqual([second]);
  });

  it('deletes more rows than fit into a batch, and keeps the others', async () => {
    await run();
    expect(await countsLeft()).toEqual([{ key: 'current' }, { key: 'endless' }]);
  });

  it('deletes rows by a timestamp', async () => {
    await service.database.query(
      `INSERT INTO revoked_access_token (jti, expires_at)
       VALUES ('00000000-0000-0000-0000-000000000001', now() - interval '1 day 1 second'),
              ('00000000-0000-0000-0000-000000000002', now() - interval '23 hours')`,
    );
    await run();
    expect(await service.database.query('SELECT jti FROM revoked_access_token')).toEqual([
      { jti: '00000000-0000-0000-0000-000000000002' },
    ]);
  });

  it('cleans up the other tables when one of them fails, and logs an error', async () => {
    await service.database.query('ALTER TABLE session RENAME TO session_elsewhere');
    await run();
    await service.database.query('ALTER TABLE session_elsewhere RENAME TO session');
    expect(await countsLeft()).toHaveLength(2);
    const messages = logLines().map((line) => line['message']);
    expect(messages.filter((message) => message === 'Expired rows were not deleted')).toHaveLength(1);
  });

  it('skips rows that another transaction has locked', async () => {
    const other = new pg.Client({ connectionString: service.database.url });
    await other.connect();
    await other.query("BEGIN; SELECT FROM attempt_count WHERE key = 'expired 7' FOR UPDATE");
    await run();
    expect(await countsLeft()).toEqual([{ key: 'current' }, { key: 'endless' }, { key: 'expired 7' }]);
    await other.end();
  });

  it.each([
    ['ahead of', HOUR + MINUTE],
    ['behind', -HOUR - MINUTE],
  ])(
    'and of partitions, rollups and keys stops while the clock is far %s that of the database',
    async (_where, lead) => {
      const { database, app } = service;
      const old = new Date(Date.now() - 400 * DAY);
      await app.get(DailyPartitions).rotate('request_log', old, { days: 30 });
      await database.query(
        `INSERT INTO request_log_hourly_rollup VALUES ($1, $2, 'request', '{}', '{}', '{}', '{}', '{}', '{}')`,
        [service.production.clientId, old],
      );
      await app.get(TokenSigningKeysService, { strict: false }).published();
      await database.query(`UPDATE token_signing_key SET signs_from = now() - interval '2 days'`);
      await database.query(
        `INSERT INTO token_signing_key
       SELECT gen_random_uuid(), algorithm, public_jwk, private_sealed, created_at, $1 FROM token_signing_key LIMIT 1`,
        [old],
      );
      const stored = async (): Promise<unknown> =>
        database.query(
          `SELECT (SELECT count(*) FROM attempt_count) AS counts, (SELECT count(*) FROM token_signing_key) AS keys,
                (SELECT count(*) FROM request_log_hourly_rollup) AS rollups,
                (SELECT count(*) FROM pg_inherits WHERE inhparent = 'request_log'::regclass AND inhrelid::regclass::text < $1) AS partitions`,
          [`request_log_${new Date(Date.now() - 30 * DAY).toISOString().slice(0, 4)}`],
        );
      const before = await stored();
      const all = async () => {
        await run();
        await app.get(PartitionRotation).run();
        await app.get(RequestLogRollupsJob).run();
        await app.get(TokenSigningKeysJob, { strict: false }).run();
      };
      {
        using _clock = setClock(service, lead);
        await all();
      }
      expect(await stored()).toEqual(before);
      const today = await database.query(
        `SELECT to_regclass('request_log_' || to_char(now() + $1::interval, 'YYYYMMDD')) AS today`,
        [`${lead / HOUR} hours`],
      );
      expect(today[0]?.['today']).not.toBeNull();
      const failures = await database.query('SELECT job FROM job_failure WHERE cause = $1 ORDER BY 1', [
        'ClocksDiffer',
      ]);
      expect(failures.map(({ job }) => job)).toEqual([
        'ExpiryJob',
        'PartitionRotation',
        'RequestLogRollupsJob',
        'TokenSigningKeysJob',
      ]);
      await database.query('DELETE FROM job_failure');
      {
        // A clock that is a little ahead deletes nothing early.
        using _clock = setClock(service, 50 * MINUTE);
        await database.query(
          `INSERT INTO attempt_count (key, points, expire) VALUES ('soon', 1, extract(epoch FROM now()) * 1000 + 40 * 60000)`,
        );
        await all();
      }
      expect((await countsLeft()).map(({ key }) => key)).toEqual(['current', 'endless', 'soon']);
      expect(await stored()).toEqual([{ counts: '3', keys: '1', rollups: '0', partitions: '0' }]);
      expect(await database.query('SELECT job FROM job_failure')).toEqual([]);
    },
  );

  it('runs in one process at a time', async () => {
    const lock = service.app.get(JobLock);
    await lock.runExclusively('expiry', async () => {
      await run();
      expect(await countsLeft()).toHaveLength(2502);
    });
  });
});
