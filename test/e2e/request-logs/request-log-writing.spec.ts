import { mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { NewRequestLogEntry } from '../../../src/modules/request-logs/request-log-entry.js';
import { DAY } from '../../../src/infrastructure/time/index.js';
import { RequestLogWriter } from '../../../src/modules/request-logs/writing/request-log-writer.js';
import { EntrySpool } from '../../../src/modules/request-logs/writing/entry-spool.js';
import { PartitionRotation } from '../../../src/infrastructure/database/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { stopClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { whileLogIsLocked } from '../../support/database/locked-log.js';
import { logLines } from '../../support/logs/log-lines.js';
import {
  CREATE_MCP_TOKEN,
  IDENTIFY_DETECTED_ACCOUNTS,
  SEARCH_DETECTED_ACCOUNTS,
  SUBMIT_JOB_APPLICATION,
} from '../../support/documents/operations.js';
import { loggedRequest } from '../../support/logs/request-log-entries.js';
import { startTestApp, useTestApp, type RequestOptions, type TestApp } from '../../support/test-app.js';

const CREATE = CREATE_MCP_TOKEN.path;
const SEARCH = SEARCH_DETECTED_ACCOUNTS.path;
const IDENTIFY = IDENTIFY_DETECTED_ACCOUNTS.path;
const REQUESTS_PER_MINUTE = 100;

interface Entry {
  readonly id: string;
  readonly client_id: string;
  readonly environment: string;
  readonly created_at: Date;
  readonly type: string;
  readonly method: string;
  readonly path: string | null;
  readonly url: string | null;
  readonly event: string | null;
  readonly status_code: number;
  readonly latency_ms: number;
  readonly session_id: string | null;
  readonly task_id: string | null;
  readonly external_user_id: string | null;
}

const service = useTestApp({ MCP_TOKEN_REQUESTS_PER_MINUTE: String(REQUESTS_PER_MINUTE) });

beforeEach(async () => {
  await service.database.query('DELETE FROM request_log');
});

const entries = (of: TestApp = service) => of.database.query<Entry>('SELECT * FROM request_log ORDER BY id');

const wrongSecret = (credentials: IssuedCredentials): IssuedCredentials => ({
  ...credentials,
  secret: 'wrong',
});

describe('Request log', () => {
  it.each<[number, string, () => RequestOptions, string | null]>([
    [200, CREATE, () => ({ body: { external_user_id: 'logged' }, as: service.development }), 'logged'],
    [200, SEARCH, () => ({ body: SEARCH_DETECTED_ACCOUNTS.body, as: service.production }), 'user-1'],
    [
      400,
      CREATE,
      () => ({ body: { external_user_id: 'logged', expires_in: 1 }, as: service.development }),
      'logged',
    ],
    [400, SEARCH, () => ({ body: 'not json', as: service.development }), null],
    [401, CREATE, () => ({ body: CREATE_MCP_TOKEN.body, as: wrongSecret(service.development) }), null],
    [401, SEARCH, () => ({ body: 'not json', as: wrongSecret(service.production) }), null],
    [403, IDENTIFY, () => ({ body: IDENTIFY_DETECTED_ACCOUNTS.body, as: service.development }), null],
    [413, CREATE, () => ({ body: { external_user_id: 'x'.repeat(600_000) }, as: service.development }), null],
    [
      415,
      SEARCH,
      () => ({ body: 'a=b', as: service.development, headers: { 'content-type': 'text/plain' } }),
      null,
    ],
  ])('has one entry for a %i response of %s', async (status, path, options, externalUserId) => {
    const request = options();
    const before = Date.now();
    const headers = { ...request.headers, 'user-agent': 'orders/1.2' };
    const response = await service.request(path, { ...request, headers });
    expect(response.status).toBe(status);
    const { error_code = null, error_message = null } = response.body as Record<string, unknown>;
    const [entry, ...others] = await entries();
    expect(others).toEqual([]);
    expect(entry).toEqual({
      id: expect.stringMatching(/^\d+$/) as string,
      client_id: request.as?.clientId,
      environment: request.as?.environment,
      created_at: expect.any(Date) as Date,
      type: 'request',
      method: 'POST',
      path,
      url: null,
      event: null,
      status_code: status,
      latency_ms: expect.any(Number) as number,
      session_id: null,
      task_id: null,
      external_user_id: externalUserId,
      // Only entries of webhooks have these fields.
      webhook_endpoint_id: null,
      webhook_event_id: null,
      attempt: null,
      reason: null,
      dns_ms: null,
      connect_ms: null,
      tls_ms: null,
      first_byte_ms: null,
      response_body: null,
      tool: null,
      agent: null,
      api_key: null,
      error_code,
      error_message,
      request_id: response.headers.get('x-request-id'),
      secret_version: status === 401 ? null : 1,
      ip_address: '127.0.0.1',
      user_agent: 'orders/1.2',
    });
    expect(entry?.created_at.getTime()).toBeGreaterThanOrEqual(before);
    expect(entry?.created_at.getTime()).toBeLessThanOrEqual(Date.now());
    expect(entry?.latency_ms).toBeGreaterThanOrEqual(0);
    expect(entry?.latency_ms).toBeLessThanOrEqual(Date.now() - before + 1);
  });

  it('has entries for requests over the rate limit', async () => {
    const { development: as } = await service.anotherOrganization();
    const requests = Array.from({ length: REQUESTS_PER_MINUTE + 10 }, () =>
      service.request(CREATE, { body: { external_user_id: 'limited' }, as }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    const logged = (await entries()).map(({ status_code }) => status_code);
    expect(logged.toSorted()).toEqual(statuses.toSorted());
    expect(logged.filter((status) => status === 429)).toHaveLength(10);
  });

  it('has each entry before the response is sent, for concurrent requests', async () => {
    const users = Array.from({ length: 60 }, (_, index) => `rival-${index}`);
    await Promise.all(
      users.map(async (user) => {
        await service.request(SEARCH, {
          body: { external_user_id: user, names: ['Netflix'] },
          as: service.development,
        });
        const found = await service.database.query('SELECT id FROM request_log WHERE external_user_id = $1', [
          user,
        ]);
        expect(found).toHaveLength(1);
      }),
    );
    const logged = await entries();
    expect(logged.map((entry) => entry.external_user_id).toSorted()).toEqual(users.toSorted());
    expect(new Set(logged.map(({ id }) => id)).size).toBe(users.length);
  });

  it('has no entries for requests without a client', async () => {
    const body = CREATE_MCP_TOKEN.body;
    const unknown = { ...service.development, clientId: '00000000-0000-4000-8000-000000000000' };
    const statuses = [
      await service.request(CREATE, { body }),
      await service.request(CREATE, { body, as: unknown }),
      await service.request(CREATE, { body, headers: { authorization: 'Basic nonsense' } }),
      await service.request(SUBMIT_JOB_APPLICATION.path, { body: SUBMIT_JOB_APPLICATION.body }),
      await service.request(SUBMIT_JOB_APPLICATION.path, { body: {}, as: service.development }),
      await service.request('/healthz', { as: service.development }),
      await service.request('/readyz'),
      await service.request('/nowhere', { body, as: service.development }),
      await service.request(CREATE, { method: 'GET', as: service.development }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401, 200, 400, 200, 200, 404, 405]);
    expect(await entries()).toEqual([]);
  });

  it('stores the path without the query string', async () => {
    await service.request(`${SEARCH}?token=hush&x=1#y`, {
      body: SEARCH_DETECTED_ACCOUNTS.body,
      as: service.development,
    });
    expect((await entries()).map(({ path }) => path)).toEqual([SEARCH]);
  });

  it.each<[string, unknown]>([
    ['absent', {}],
    ['null', { external_user_id: null }],
    ['blank', { external_user_id: '' }],
    ['white space', { external_user_id: ' \t' }],
    ['a number', { external_user_id: 7 }],
    ['a list', { external_user_id: ['a'] }],
    ['too long', { external_user_id: 'x'.repeat(257) }],
    ['with U+0000', { external_user_id: 'a\0b' }],
    ['half a surrogate pair', '{"external_user_id":"\\ud83d"}'],
    ['in a list', [{ external_user_id: 'u' }]],
  ])('stores no user if the value is %s', async (_what, body) => {
    expect((await service.request(CREATE, { body, as: service.development })).status).toBe(400);
    expect(await entries()).toMatchObject([{ status_code: 400, external_user_id: null }]);
  });

  it('stores a user of up to 256 code points', async () => {
    const user = '😀'.repeat(256);
    await service.request(CREATE, { body: { external_user_id: user }, as: service.development });
    expect((await entries()).map((entry) => entry.external_user_id === user)).toEqual([true]);
  });

  it('separates clients and environments', async () => {
    const { development } = await service.anotherOrganization();
    for (const as of [service.development, service.production, development]) {
      await service.request(SEARCH, { body: SEARCH_DETECTED_ACCOUNTS.body, as });
    }
    expect(await entries()).toMatchObject([
      { client_id: service.development.clientId, environment: 'development' },
      { client_id: service.production.clientId, environment: 'production' },
      { client_id: development.clientId, environment: 'development' },
    ]);
  });

  it('delays a response only briefly if the database is slow, and writes the entry later', async () => {
    await whileLogIsLocked(service.database, async () => {
      const responses = await Promise.all(
        ['slow-1', 'slow-2', 'slow-3'].map((user) =>
          service.request(CREATE, { body: { external_user_id: user }, as: service.development }),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    });
    const logged = await eventually('the entries are there', async () => {
      const found = await entries();
      return found.length === 3 && found;
    });
    expect(logged.map((entry) => entry.external_user_id).toSorted()).toEqual(['slow-1', 'slow-2', 'slow-3']);
  });

  it('does not fail requests if entries cannot be written', async () => {
    await service.database.query('ALTER TABLE request_log RENAME TO request_log_away');
    try {
      const { status } = await service.request(SEARCH, {
        body: SEARCH_DETECTED_ACCOUNTS.body,
        as: service.development,
      });
      expect(status).toBe(200);
    } finally {
      await service.database.query('ALTER TABLE request_log_away RENAME TO request_log');
    }
    await service.request(SEARCH, { body: SEARCH_DETECTED_ACCOUNTS.body, as: service.development });
    expect((await entries()).length).toBeGreaterThanOrEqual(1);
  });
});

describe('A long path', () => {
  it('is cut in the request log, whose buffer would otherwise hold it', async () => {
    const path = `/sign-in-links/${'9'.repeat(10_000)}/cancel`;
    await service.request(path, { method: 'POST', as: service.development });
    expect((await entries()).map((entry) => entry.path)).toEqual([path.slice(0, 1_024)]);
  });
});

const entryAt = (createdAt: Date): NewRequestLogEntry => ({
  clientId: service.development.clientId,
  environment: 'development',
  createdAt,
  type: 'request',
  method: 'POST',
  path: CREATE,
  url: null,
  event: null,
  statusCode: 200,
  latencyMilliseconds: 1,
  sessionId: null,
  taskId: null,
  externalUserId: null,
});

describe('Partitions of the request log', () => {
  const NOON = new Date('2026-03-15T12:00:00Z');

  const nameOf = (day: Date): string => `request_log_${day.toISOString().slice(0, 10).replaceAll('-', '')}`;
  const inDays = (days: number, from = NOON): Date => new Date(from.getTime() + days * DAY);

  async function partitions(): Promise<string[]> {
    const rows = await service.database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
        WHERE inhparent = 'request_log'::regclass ORDER BY name`,
    );
    return rows.map(({ name }) => name);
  }

  async function rotateAt(time: Date): Promise<void> {
    using _clock = stopClock(service, time);
    await service.app.get(PartitionRotation).run();
  }

  async function callAt(time: Date, user: string): Promise<string | undefined> {
    {
      using _clock = stopClock(service, time);
      const { status } = await service.request(SEARCH, {
        body: { external_user_id: user, names: ['Netflix'] },
        as: service.development,
      });
      expect(status).toBe(200);
    }
    const [row] = await service.database.query<{ partition: string }>(
      // In a cluster, the name of a shard ends with its number.
      `SELECT regexp_replace(tableoid::regclass::text, '_\\d{6}$', '') AS partition
         FROM request_log WHERE external_user_id = $1`,
      [user],
    );
    return row?.partition;
  }

  it('exist after the start for today and the coming days', async () => {
    const today = new Date();
    const wanted = [0, 1, 2, 3].map((days) => nameOf(inDays(days, today)));
    await eventually('the partitions exist', async () => {
      const created = await partitions();
      return wanted.every((name) => created.includes(name));
    });
    expect(await callAt(today, 'today')).toBe(nameOf(today));
  });

  it('are created in advance and dropped after 30 days', async () => {
    await rotateAt(inDays(-31));
    await rotateAt(inDays(-24));
    expect(await callAt(inDays(-31), 'old')).toBe(nameOf(inDays(-31)));
    expect(await callAt(inDays(-30), 'kept')).toBe(nameOf(inDays(-30)));

    await rotateAt(NOON);
    const left = await partitions();
    expect(left).toEqual(expect.arrayContaining([0, 1, 2, 3].map((days) => nameOf(inDays(days)))));
    expect(left).toContain(nameOf(inDays(-30)));
    expect(left).not.toContain(nameOf(inDays(-31)));
    expect((await entries()).map((entry) => entry.external_user_id)).toEqual(['kept']);

    await rotateAt(inDays(1));
    expect(await partitions()).not.toContain(nameOf(inDays(-30)));
    expect(await entries()).toEqual([]);
  });

  it('do not change if the rotation runs again, even concurrently', async () => {
    await rotateAt(NOON);
    const before = await partitions();
    {
      using _clock = stopClock(service, NOON);
      const rotation = service.app.get(PartitionRotation);
      await Promise.all([rotation.run(), rotation.run(), rotation.run()]);
    }
    expect(await partitions()).toEqual(before);
  });

  it('do not keep rows of the default partition beyond the retention', async () => {
    expect(await callAt(inDays(-40), 'old stray')).toBe('request_log_default');
    await rotateAt(NOON);
    expect(await entries()).toEqual([]);
  });

  it('are created during writes without losing entries', async () => {
    const far = new Date('2032-05-20T10:00:00Z');
    const writer = service.app.get(RequestLogWriter);
    let making = true;
    let written = 0;
    const writing = Array.from({ length: 6 }, async () => {
      while (making) {
        await writer.write(entryAt(far));
        written += 1;
      }
    });
    await rotateAt(far);
    making = false;
    await Promise.all(writing);
    expect(await partitions()).toContain(nameOf(far));
    await eventually('all entries are written', async () => {
      const [row] = await service.database.query<{ count: string }>(
        'SELECT count(*) FROM request_log WHERE created_at = $1',
        [far],
      );
      return Number(row?.count) === written;
    });
  });

  it('include a default partition, whose rows do not prevent new partitions', async () => {
    const far = new Date('2031-05-20T10:00:00Z');
    expect(await callAt(far, 'stray')).toBe('request_log_default');
    await rotateAt(far);
    expect(await partitions()).toEqual(
      expect.arrayContaining([0, 1, 2, 3].map((days) => nameOf(inDays(days, far)))),
    );
    expect((await entries()).map((entry) => entry.external_user_id)).toEqual(['stray']);
  });
});

// Must be last: @Transactional() uses the application that was started last in the process.
describe('Request log at shutdown', () => {
  it('is complete after the shutdown', async () => {
    const stopping = await startTestApp();
    try {
      // One after another, so that some statements are running while other entries wait.
      const users = ['last-1', 'last-2', 'last-3', 'last-4', 'last-5'];
      let closed: Promise<void> | undefined;
      await whileLogIsLocked(stopping.database, async () => {
        for (const user of users) {
          const { status } = await stopping.request(CREATE, {
            body: { external_user_id: user },
            as: stopping.development,
          });
          expect(status).toBe(200);
        }
        closed = stopping.app.close();
        // By now, the shutdown waits for the log.
        await pause(500);
      });
      await closed;
      const logged = await entries(stopping);
      expect(logged.map((entry) => entry.external_user_id).toSorted()).toEqual(users);
    } finally {
      await stopping.database.drop();
    }
  });
});

describe('The rotation of partitions', () => {
  it('ends when the process stops, although a lock that it needs is held', async () => {
    const stopping = await startTestApp();
    try {
      const rotation = stopping.app.get(PartitionRotation);
      await rotation.run();
      const newest = `request_log_${new Date(Date.now() + 7 * DAY).toISOString().slice(0, 10).replaceAll('-', '')}`;
      await stopping.database.query(`DROP TABLE ${newest}`);
      const begin = performance.now();
      await whileLogIsLocked(stopping.database, async () => {
        const running = rotation.run();
        await eventually('the rotation waits for a lock', async () => {
          const waiting = `SELECT FROM pg_locks WHERE locktype = 'relation' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
          return (await stopping.database.query(waiting)).length > 0;
        });
        await stopping.app.close();
        await running;
      });
      // Otherwise, it tries for half a minute to get the lock.
      expect(performance.now() - begin).toBeLessThan(15_000);
    } finally {
      await stopping.database.drop();
    }
  });
});

describe('The start of a process', () => {
  it('waits for the partitions of today, and for no other part of the rotation', async () => {
    await using own = await startTestApp();
    const rotation = own.app.get(PartitionRotation);
    await rotation.run();
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let hasBegun = false;
    rotation.add({
      name: 'webhook_event',
      retention: { days: 400 },
      lock: 'slow rotation',
      deleteDependents: () => {
        hasBegun = true;
        return finished;
      },
    });
    const today = `request_log_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
    await own.database.query(`DROP TABLE ${today}`);
    await rotation.onApplicationBootstrap();
    expect(await own.database.query('SELECT FROM pg_class WHERE relname = $1', [today])).toHaveLength(1);
    await eventually('the rest has begun', async () => hasBegun);
    finish();
  });
});

describe('Entries that a process saved in files', () => {
  it('are written once their file can be read, and set aside only if their content cannot', async () => {
    const own = await startTestApp();
    try {
      const spool = own.app.get(EntrySpool);
      await spool.save([loggedRequest(own.production, { externalUserId: 'kept', createdAt: new Date() })]);
      const [id = ''] = await spool.ids();
      const folder = join(own.dataDirectory, 'request-log');
      const [file, kept] = [join(folder, `${id}.ndjson`), join(folder, 'kept')];
      // Reading it fails (EISDIR), as it does without free descriptors.
      renameSync(file, kept);
      mkdirSync(file);
      writeFileSync(join(folder, '0-damaged.ndjson'), '{');
      spool.onApplicationBootstrap();
      await eventually('the damaged file is set aside', async () => (await spool.count()).refused > 0);
      await eventually('the other one is tried', async () =>
        logLines().some(({ message }) => /^Saved request log entries wait.*EISDIR/.test(String(message))),
      );
      expect(await spool.count()).toEqual({ waiting: 1, refused: 1 });
      rmdirSync(file);
      renameSync(kept, file);
      await eventually('it is written', async () => (await spool.count()).waiting === 0);
      expect((await entries(own)).map((entry) => entry.external_user_id)).toEqual(['kept']);
    } finally {
      await own.close();
    }
  });
});
