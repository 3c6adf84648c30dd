import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DailyPartitions } from '../../src/infrastructure/database/index.js';
import { DAY } from '../../src/infrastructure/time/index.js';
import { CryptoConfiguration } from '../../src/infrastructure/crypto/index.js';
import { RequestLogRepository } from '../../src/modules/request-logs/index.js';
import { RequestLogWriter } from '../../src/modules/request-logs/writing/request-log-writer.js';
import { EntrySpool } from '../../src/modules/request-logs/writing/entry-spool.js';
import { eventually } from '../support/eventually.js';
import { whileLogIsLocked } from '../support/database/locked-log.js';
import { CREATE_MCP_TOKEN, SEARCH_DETECTED_ACCOUNTS } from '../support/documents/operations.js';
import { Program } from '../support/programs/program.js';
import { fillRequestLog, loggedRequest } from '../support/logs/request-log-entries.js';
import {
  basic,
  error,
  startTestApp,
  type TestResponse,
  type Login,
  type TestApp,
} from '../support/test-app.js';
import { addEndpoint } from '../support/webhooks/webhook-receiver.js';

const TIMEOUT = error(
  'REQUEST_LOG_ERROR',
  'REQUEST_LOG_QUERY_TIMEOUT',
  'The query took too long. Shorten the period between start and end, or filter by session, task, user, event or status code.',
);
const WAITED = {
  ...TIMEOUT,
  error_message:
    'The query did not run, because another query of your organization took too long. Try again when it has ended.',
};

interface Page {
  readonly data: readonly { readonly id: number; readonly external_user_id: string | null }[];
  readonly next_cursor: string | null;
}

let service: TestApp;
let owner: Login;

beforeAll(async () => {
  service = await startTestApp({
    DASHBOARD_REQUESTS_PER_MINUTE: '1000000',
    MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000',
    REQUEST_LOG_QUERY_TIMEOUT_MS: '1000',
    REQUEST_LOG_CONNECTIONS: '2',
  });
  owner = await service.login('owner');
});
afterAll(() => service.close());
afterEach(() => Program.endAll());

const list = (
  query: Readonly<Record<string, string>> = {},
  from = service,
  login = owner,
): Promise<TestResponse<Page>> =>
  from.request<Page>(`/request-logs?${new URLSearchParams({ environment: 'production', ...query })}`, {
    login,
  });
const partitionOf = (time: Date): string =>
  `request_log_${time.toISOString().slice(0, 10).replaceAll('-', '')}`;

/** Runs the rotation as of that day. */
const rotateAt = (time: Date): Promise<void> =>
  service.app.get(DailyPartitions).rotate('request_log', time, { days: 30 });

/** Holds a lock on a connection of its own while the work runs. */
async function whileHoldingLock(
  statement: string,
  work: () => Promise<void>,
  { database } = service,
): Promise<void> {
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  try {
    await connection.query(`BEGIN; ${statement}`);
    await work();
    await connection.query('COMMIT');
  } finally {
    await connection.end();
  }
}

describe('Slow queries of the request log', () => {
  // Yesterday's partition, so that today's entries can be written.
  const lockOfYesterday = (): string =>
    `LOCK TABLE ${partitionOf(new Date(Date.now() - DAY))} IN ACCESS EXCLUSIVE MODE`;

  it('are canceled, also those that wait for another one, and do not delay other requests', async () => {
    // Connects to the database, which takes longer than a query may on a busy machine.
    expect((await list()).status).toBe(200);
    await whileHoldingLock(lockOfYesterday(), async () => {
      // As many as an organization can have at the same time.
      const slowQueries = Promise.all(Array.from({ length: 5 }, () => list()));
      let arePending = true;
      void slowQueries.finally(() => (arePending = false));
      let completed = 0;
      for (; arePending; completed += 1) {
        const { status } = await service.request(CREATE_MCP_TOKEN.path, {
          body: CREATE_MCP_TOKEN.body,
          as: service.production,
        });
        expect(status).toBe(200);
      }
      // The queries take a second or more, so a request that waited for them would be one of a few.
      expect(completed).toBeGreaterThan(10);
      const bodies = (await slowQueries).map(({ status, body }) => {
        expect(status).toBe(504);
        return body;
      });
      // A query that has not run is not too slow itself.
      for (const body of bodies) expect([TIMEOUT, WAITED]).toContainEqual(body);
      expect(bodies).toContainEqual(TIMEOUT);
      expect(bodies).toContainEqual(WAITED);
    });
    expect((await list()).status).toBe(200);
  });

  it('are refused while one of the organization runs and four wait', async () => {
    // None is canceled during the test: a query that arrived later would take its place.
    const own = await startTestApp({
      DASHBOARD_REQUESTS_PER_MINUTE: '1000000',
      REQUEST_LOG_QUERY_TIMEOUT_MS: '60000',
    });
    try {
      const login = await own.login('owner');
      const responses: number[] = [];
      let queries: Promise<unknown> = Promise.resolve();
      const send = async () => void responses.push((await list({}, own, login)).status);
      await whileHoldingLock(
        lockOfYesterday(),
        async () => {
          queries = Promise.all(Array.from({ length: 20 }, send));
          await eventually('all but five are refused', () => responses.length >= 15);
          expect(responses).toEqual(Array.from({ length: 15 }, () => 429));
        },
        own,
      );
      await queries;
      expect(responses.slice(15)).toEqual([200, 200, 200, 200, 200]);
    } finally {
      await own.close();
    }
  });
});

describe('Partitions of the request log', () => {
  const LATER = new Date(Date.now() + 40 * DAY);

  it('are dropped while clients page through the log without errors', async () => {
    const past = (days: number): Date => new Date(Date.now() - days * DAY);
    for (const days of [6, 5, 4]) await rotateAt(past(days));
    const entries = [6, 5, 4, 3, 2, 1].flatMap((days) =>
      Array.from({ length: 20 }, (_, index) =>
        loggedRequest(service.production, { createdAt: past(days), externalUserId: `${days} ${index}` }),
      ),
    );
    await fillRequestLog(service, entries);
    const start = new Date(Date.now() - 6.5 * DAY).toISOString();
    let dropping = true;
    let finished = 0;
    const reading = Array.from({ length: 3 }, async () => {
      const seen: (string | null)[][] = [];
      while (dropping) {
        let cursor: string | null = null;
        const users: (string | null)[] = [];
        do {
          const { status, body }: TestResponse<Page> = await list({
            start,
            limit: '9',
            ...(cursor === null ? {} : { cursor }),
          });
          expect(status).toBe(200);
          users.push(...body.data.map(({ external_user_id }) => external_user_id));
          cursor = body.next_cursor;
        } while (cursor !== null);
        seen.push(users.filter((user) => /^\d \d+$/.test(user ?? '')));
        finished += 1;
      }
      return seen;
    });
    // Retention is 30 days: with each rotation, one more day is past it.
    for (const days of [25, 26, 27, 28, 29]) {
      const before = finished;
      await eventually('each client has read the whole log once', () => finished > before + 3 || undefined);
      await rotateAt(new Date(Date.now() + days * DAY));
    }
    dropping = false;
    const walks = (await Promise.all(reading)).flat();
    expect(walks.length).toBeGreaterThan(5);
    const lengths = walks.map((users) => users.length);
    for (const users of walks) {
      expect(new Set(users).size).toBe(users.length);
      // The remaining days have no gaps.
      const oldest = Math.max(0, ...users.map((user) => Number(user?.split(' ')[0])));
      for (let day = 1; day < oldest; day += 1)
        expect(users.filter((user) => user?.startsWith(`${day} `))).toHaveLength(20);
    }
    expect(Math.max(...lengths)).toBe(120);
    expect(Math.min(...lengths)).toBeLessThan(120);
  });

  it('wait for a slow reader without blocking writers', async () => {
    const writer = service.app.get(RequestLogWriter);
    const name = partitionOf(new Date());
    let dropped = false;
    let rotation: Promise<void> = Promise.resolve();
    await whileHoldingLock(`SELECT FROM ${name}; SELECT FROM request_log LIMIT 1`, async () => {
      rotation = rotateAt(LATER).then(() => {
        dropped = true;
      });
      for (let round = 0; round < 6; round += 1) {
        const externalUserId = randomBytes(6).toString('hex');
        await writer.write(loggedRequest(service.production, { createdAt: LATER, externalUserId }));
        await eventually('the entry is there', async () => {
          const rows = await service.database.query('SELECT FROM request_log WHERE external_user_id = $1', [
            externalUserId,
          ]);
          return rows.length === 1 || undefined;
        });
        await pause(100);
      }
      expect(dropped).toBe(false);
    });
    await rotation;
    const left = await service.database.query('SELECT to_regclass($1) AS partition', [name]);
    expect(left).toEqual([{ partition: null }]);
  });
});

/** Starts a process of its own on the database and the data folder of the test. */
function startProgram(own: TestApp, environment: Readonly<Record<string, string>> = {}): Program {
  const { secretPepper = '', keyEncryptionKey = '' } = own.app.get(CryptoConfiguration);
  return new Program('main.js', {
    environment: {
      DATABASE_URL: own.database.url,
      DATA_DIR: own.dataDirectory,
      PORT: '0',
      SECRET_PEPPER: secretPepper,
      KEY_ENCRYPTION_KEY: keyEncryptionKey,
      ...environment,
    },
  });
}

async function baseUrlOf(program: Program): Promise<string> {
  const [, baseUrl = ''] = await program.waitForOutput(/^Listening on (\S+)\. /m);
  return baseUrl;
}

// Each test waits most of the time, so they run at the same time.
describe('SIGTERM while entries cannot be written', () => {
  import.meta.jest.setTimeout(60_000);
  const USERS = Array.from({ length: 20 }, (_, index) => `waiting-${index}`);
  const folderOf = (own: TestApp): string => join(own.dataDirectory, 'request-log');
  const filesOf = (own: TestApp): string[] => readdirSync(folderOf(own)).toSorted();

  /** One for each test, started one after the other: transactions use the application that was created last. */
  const applications: TestApp[] = [];
  const unused: TestApp[] = [];

  beforeAll(async () => {
    for (let index = 0; index < 6; index += 1) applications.push(await startTestApp());
    unused.push(...applications);
  });
  afterAll(async () => {
    await Program.endAll();
    for (const each of applications) await each.close();
  });

  async function createTokens(own: TestApp, baseUrl: string): Promise<number[]> {
    return Promise.all(
      USERS.map(async (user) => {
        const response = await fetch(`${baseUrl}${CREATE_MCP_TOKEN.path}`, {
          method: 'POST',
          headers: { authorization: basic(own.production), 'content-type': 'application/json' },
          body: JSON.stringify({ ...CREATE_MCP_TOKEN.body, external_user_id: user }),
        });
        await response.text();
        return response.status;
      }),
    );
  }

  async function loggedUsers(own: TestApp): Promise<string[]> {
    const rows = await own.database.query<{ user: string }>(
      `SELECT external_user_id AS "user" FROM request_log WHERE external_user_id LIKE 'waiting-%'`,
    );
    return rows.map(({ user }) => user).toSorted();
  }

  /** Stops a process while the log is locked. */
  async function stopWithWaitingEntries(own: TestApp): Promise<string> {
    let output = '';
    const program = startProgram(own, { DATABASE_STATEMENT_TIMEOUT_MS: '1000' });
    const baseUrl = await baseUrlOf(program);
    await whileLogIsLocked(own.database, async () => {
      const statuses = await createTokens(own, baseUrl);
      expect(statuses).toEqual(USERS.map(() => 200));
      program.signal('SIGTERM');
      const ended = await program.ended;
      expect(ended.code).toBe(0);
      output = `${ended.output}${ended.errors}`;
    });
    expect(await loggedUsers(own)).toEqual([]);
    return output;
  }

  it.concurrent('keeps the entries in a file, from which the next processes write each once', async () => {
    const own = unused.pop()!;
    const output = await stopWithWaitingEntries(own);
    expect(output).toMatch(/20 request log entries could not be written/);
    const [file = '', ...others] = filesOf(own).map((name) => join(folderOf(own), name));
    expect(others).toEqual([]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folderOf(own)).mode & 0o777).toBe(0o700);
    const content = readFileSync(file);

    const next = [startProgram(own), startProgram(own), startProgram(own)];
    await Promise.all(next.map(baseUrlOf));
    await eventually('the file is gone', () => filesOf(own).length === 0 || undefined);
    expect(await loggedUsers(own)).toEqual(USERS.toSorted());

    // A process can end between the commit and the removal of the file.
    writeFileSync(file, content);
    await baseUrlOf(startProgram(own));
    await eventually('the file is gone', () => filesOf(own).length === 0 || undefined);
    expect(await loggedUsers(own)).toEqual(USERS.toSorted());
  });

  it.concurrent('keeps the entries while PostgreSQL is unavailable', async () => {
    const own = unused.pop()!;
    const program = startProgram(own, { DATABASE_CONNECT_TIMEOUT_MS: '2000' });
    const baseUrl = await baseUrlOf(program);
    expect(await createTokens(own, baseUrl)).toEqual(USERS.map(() => 200));
    await own.database.query('DELETE FROM request_log');
    await own.database.cutOff();
    expect(await createTokens(own, baseUrl)).toEqual(USERS.map(() => 503));
    program.signal('SIGTERM');
    expect((await program.ended).code).toBe(0);
    await own.database.reconnect();
    expect(await loggedUsers(own)).toEqual([]);
    await baseUrlOf(startProgram(own));
    await eventually('the file is gone', () => filesOf(own).length === 0 || undefined);
    expect(await loggedUsers(own)).toEqual(USERS.toSorted());
  });

  it.concurrent('keeps the entries while a job waits for a full disk', async () => {
    const own = unused.pop()!;
    // Interrupted by a process that was killed: nobody can store that its attempt has ended.
    const { clientId } = own.production;
    await addEndpoint(own, clientId, 'https://receiver.invalid');
    await own.database.query(
      `WITH event AS (
         INSERT INTO webhook_event (id, created_at, client_id, environment, event, body)
         VALUES (gen_random_uuid(), now(), $1, 'production', 'CARD_UPDATED', '{}') RETURNING id, created_at)
       INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at, attempts, claim_id,
                                     attempt_started_at, lease_until)
       SELECT webhook_endpoint.id, event.id, event.created_at, url, 3, now(), 1, gen_random_uuid(), now(),
              now() - interval '1 hour' FROM webhook_endpoint, event`,
      [clientId],
    );
    await own.database.query(
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON request_log EXECUTE FUNCTION no_room()`,
    );
    const program = startProgram(own);
    const baseUrl = await baseUrlOf(program);
    expect(await createTokens(own, baseUrl)).toEqual(USERS.map(() => 200));
    await program.waitForOutput(/Attempts wait to be settled/);
    program.signal('SIGTERM');
    expect((await program.ended).code).toBe(0);
    const [file = ''] = filesOf(own);
    expect(
      readFileSync(join(folderOf(own), file), 'utf8')
        .trim()
        .split('\n'),
    ).toHaveLength(USERS.length);
  });

  it.concurrent('sets a file aside that it cannot read', async () => {
    const own = unused.pop()!;
    const file = `${randomUUID()}.ndjson`;
    mkdirSync(folderOf(own));
    writeFileSync(join(folderOf(own), file), 'not an entry\n');
    const program = startProgram(own);
    await baseUrlOf(program);
    await program.waitForErrors(/could not be written and is set aside/);
    expect(filesOf(own)).toEqual([`${file}.refused`]);
  });

  it.concurrent('leaves a file to the next process if it stops before all are written', async () => {
    const own = unused.pop()!;
    const entry = {
      ...loggedRequest(own.production, { createdAt: new Date() }),
      externalUserId: 'waiting-1',
    };
    mkdirSync(folderOf(own));
    const lines = Array.from({ length: 3_000 }, () => `${JSON.stringify(entry)}\n`);
    writeFileSync(join(folderOf(own), `${randomUUID()}.ndjson`), lines.join(''));
    const work = async (): Promise<void> => {
      const program = startProgram(own);
      await baseUrlOf(program);
      await eventually('the first statement waits', async () => {
        const waiting = await own.database.query(`SELECT FROM pg_locks
          WHERE relation = 'request_log'::regclass AND NOT granted`);
        return waiting.length > 0 || undefined;
      });
      program.signal('SIGTERM');
      expect((await program.ended).code).toBe(0);
    };
    // Keeps others from writing, but not from starting.
    await whileLogIsLocked(own.database, work, 'ONLY request_log IN SHARE MODE');
    expect(filesOf(own)).toHaveLength(1);
    expect(await loggedUsers(own)).toEqual([]);
  });

  it.concurrent('says so if the folder cannot be written', async () => {
    const own = unused.pop()!;
    writeFileSync(folderOf(own), 'not a folder');
    const output = await stopWithWaitingEntries(own);
    expect(output).toMatch(/20 request log entries are lost/);
  });
});

describe('Stopping while saved entries are written', () => {
  it('does not wait for a statement that hangs', async () => {
    const own = await startTestApp();
    const spool = own.app.get(EntrySpool);
    await spool.save([loggedRequest(own.production, { createdAt: new Date() })]);
    let finish = (): void => undefined;
    const hanging = new Promise<void>((resolve) => (finish = resolve));
    const append = import.meta.jest
      .spyOn(own.app.get(RequestLogRepository), 'append')
      .mockReturnValue(hanging);
    try {
      spool.onApplicationBootstrap();
      await eventually('the statement has begun', () => append.mock.calls.length > 0 || undefined);
      const stopped = spool.onModuleDestroy().then(() => true);
      expect(await Promise.race([stopped, pause(10_000, false)])).toBe(true);
    } finally {
      finish();
      append.mockRestore();
      await own.close();
    }
  });
});

describe('kill -9 under load', () => {
  it('loses no entry of a request that got its response', async () => {
    const own = await startTestApp();
    try {
      for (let round = 0; round < 2; round += 1) {
        const program = startProgram(own, { LOG_LEVEL: 'error' });
        const baseUrl = await baseUrlOf(program);
        const successful: string[] = [];
        let number = 0;
        const sendRequests = async (): Promise<void> => {
          for (;;) {
            const user = `${round}-${(number += 1)}`;
            const response = await fetch(`${baseUrl}${SEARCH_DETECTED_ACCOUNTS.path}`, {
              method: 'POST',
              headers: { authorization: basic(own.production), 'content-type': 'application/json' },
              body: JSON.stringify({ ...SEARCH_DETECTED_ACCOUNTS.body, external_user_id: user }),
            });
            await response.text();
            if (response.status === 200) successful.push(user);
          }
        };
        const running = Promise.allSettled(Array.from({ length: 24 }, sendRequests));
        await eventually('some requests have succeeded', () => successful.length > 200 || undefined);
        program.signal('SIGKILL');
        await running;
        const logged = await own.database.query<{ user: string }>(
          `SELECT external_user_id AS "user" FROM request_log WHERE external_user_id LIKE $1`,
          [`${round}-%`],
        );
        const known = new Set(logged.map(({ user }) => user));
        expect(successful.filter((user) => !known.has(user))).toEqual([]);
      }
    } finally {
      await own.close();
    }
  }, 60_000);
});
