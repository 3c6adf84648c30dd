import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { ExpiryJob, JobLock } from '../../src/infrastructure/database/index.js';
import { DAY, MINUTE } from '../../src/infrastructure/time/index.js';
import { logLines } from '../support/log-lines.js';
import { startTestApp, useTestApp } from '../support/test-app.js';

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
      'DashboardSession.expiresAt': 0,
      'IdempotencyKey.createdAt': 1,
      'MerchantSignOut.createdAt': 30,
      'OutgoingEmail.expiresAt': 30,
      'PasskeyChallenge.expiresAt': 0,
      'PasswordLink.expiresAt': 0,
      'PasswordResetRequest.createdAt': (30 * MINUTE) / DAY,
      'DeviceAuthorization.expiresAt': 1,
      'DevicePollState.acceptedAt': 1,
      'RegisteredAgent.unusedSince': 1,
      'RequestLogFile.writtenAt': 30,
      'RevokedAccessToken.expiresAt': 1,
      'SignInLink.expiresAt': 7,
      'Session.expiresAt': 30,
      'SsoAttempt.createdAt': 30,
      'SubmittedForm.createdAt': (10 * MINUTE) / DAY,
      'JobApplication.receivedAt': 365,
      'KnownBrowser.loggedInAt': 365,
      'UserErasure.finishedAt': 365,
      'Resend.finishedAt': 90,
    });
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
    expect(messages.filter((message) => message === 'Expired rows of Session were not deleted')).toHaveLength(
      1,
    );
  });

  it('skips rows that another transaction has locked', async () => {
    const other = new pg.Client({ connectionString: service.database.url });
    await other.connect();
    await other.query("BEGIN; SELECT FROM attempt_count WHERE key = 'expired 7' FOR UPDATE");
    await run();
    expect(await countsLeft()).toEqual([{ key: 'current' }, { key: 'endless' }, { key: 'expired 7' }]);
    await other.end();
  });

  it('runs in one process at a time', async () => {
    const lock = service.app.get(JobLock);
    await lock.runExclusively('expiry', async () => {
      await run();
      expect(await countsLeft()).toHaveLength(2502);
    });
  });
});
