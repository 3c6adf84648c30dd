import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DAY, HOUR, SECOND } from '../../src/infrastructure/time/index.js';
import type { IssuedCredentials } from '../../src/modules/api-clients/index.js';
import { PartitionRotation } from '../../src/infrastructure/database/index.js';
import { COMMAND_TIMEOUT, startTestAppWithCommands, type Commands } from '../support/programs/commands.js';
import { eventually } from '../support/eventually.js';
import { logLines } from '../support/logs/log-lines.js';
import { Program, type Ended } from '../support/programs/program.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../support/logs/request-log-entries.js';
import type { TestApp } from '../support/test-app.js';

import.meta.jest.setTimeout(COMMAND_TIMEOUT);

interface ExportedEntry {
  readonly id: number;
  readonly datetime: string;
  readonly external_user_id: string | null;
}

let service: TestApp;
let other: IssuedCredentials;
let commands: Commands;

beforeAll(async () => {
  ({ service, commands } = await startTestAppWithCommands());
  ({ development: other } = await service.anotherOrganization());
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
});
beforeEach(async () => {
  await service.database.query('DELETE FROM request_log');
});

const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);

/** Adds entries of API requests, which tests tell apart by their users. */
async function add(times: readonly (readonly [Date, user: string])[], client = service.development) {
  const entries = times.map(([createdAt, externalUserId]) =>
    loggedRequest(client, { createdAt, externalUserId }),
  );
  await fillRequestLog(service, entries);
}

/** Locks a table while the work runs. */
async function locking<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
  const connection = new pg.Client({ connectionString: service.database.url });
  await connection.connect();
  try {
    await connection.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return await work();
  } finally {
    await connection.end();
  }
}

/** Returns whether a connection with this name fulfills the condition. */
async function activity(name: string, condition: string): Promise<boolean> {
  const found = await service.database.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE $2 AND ${condition}`,
    [service.database.name, `%${name}`],
  );
  return found.length > 0;
}

function linesOf({ code, output, errors }: Ended): string[] {
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return output.split('\n').slice(0, -1);
}

const rowsOf = (ended: Ended): ExportedEntry[] =>
  linesOf(ended).map((line) => JSON.parse(line) as ExportedEntry);

describe('request-log export', () => {
  const command = (format: string): string =>
    `request-log export --client ${service.development.clientId} --format ${format}`;

  it('writes all entries of a client exactly once, oldest first', async () => {
    const start = new Date('2026-03-01T00:00:00Z');
    // Batches of 1,000 end between entries with the same time.
    const entries = Array.from({ length: 3_300 }, (_, index) =>
      loggedRequest(service.development, {
        createdAt: new Date(start.getTime() + Math.floor(index / 1_100)),
      }),
    );
    // The order of IDs differs from the order of times.
    await fillRequestLog(service, [...entries.slice(1_700), ...entries.slice(0, 1_700)]);
    await add([[start, 'other environment']], service.production);
    await add([[start, 'other organization']], other);
    await add([
      [new Date(start.getTime() - 1), 'too early'],
      [new Date(start.getTime() + 20 * DAY), 'within'],
      [new Date(start.getTime() + 20 * DAY + 1), 'too late'],
    ]);
    const stored = await service.database.query<{ id: string }>(
      `SELECT id FROM request_log WHERE client_id = $1 AND external_user_id IS NULL ORDER BY created_at, id`,
      [service.development.clientId],
    );

    const rows = rowsOf(
      await commands.run(`${command('ndjson')} --start 2026-03-01T00:00:00Z --end 2026-03-21T00:00:00Z`),
    );
    expect(rows.at(-1)).toMatchObject({ external_user_id: 'within' });
    const [entry] = await service.database.query(
      `SELECT actor_name, target_environment FROM audit_log WHERE action = 'request_log.export'`,
    );
    expect(entry).toEqual({ actor_name: 'operator', target_environment: 'development' });
    expect(rows.slice(0, -1).map(({ id }) => id)).toEqual(stored.map(({ id }) => Number(id)));
    expect(stored).toHaveLength(3_300);
  });

  it('writes the fields of the API, without formulas in CSV', async () => {
    const createdAt = ago(2 * HOUR);
    const attempt = loggedAttempt(service.development, { createdAt });
    const formula = '=HYPERLINK("http://evil.example")';
    await fillRequestLog(service, [attempt]);
    await add([
      [ago(HOUR), formula],
      [ago(HOUR - 1), '@SUM(1), "x"'],
      [ago(25 * HOUR), 'before the default period'],
    ]);

    const [csv, ndjson] = await Promise.all([
      commands.inOwnProcess(command('csv')),
      commands.run(command('ndjson')),
    ]);
    const lines = linesOf(csv);
    expect(lines).toHaveLength(4);
    expect(lines[0]).toBe(
      'id,type,datetime,method,path,url,event,status_code,latency_ms,session_id,task_id,external_user_id,' +
        'delivery.webhook_endpoint_id,delivery.event_id,delivery.attempt,delivery.reason,delivery.dns_ms,' +
        'delivery.connect_ms,delivery.tls_ms,delivery.first_byte_ms,tool,agent,' +
        'error_code,error_message,request_id,api_key',
    );
    const { endpointId, eventId } = attempt.attempt ?? {};
    expect(lines[1]).toMatch(
      new RegExp(
        `^\\d+,webhook,${createdAt.toISOString()},POST,,https://hooks\\.example\\.com/merchants\\?token=\\*\\*\\*,` +
          `CARD_UPDATED,503,84,${attempt.sessionId},25605,user-1,${endpointId},${eventId},2,NON_200,1,11,,48,,,,,,$`,
      ),
    );
    expect(lines[2]).toMatch(/,request,.*,"'=HYPERLINK\(""http:\/\/evil\.example""\)",,,,,,,,,,,,,,$/);
    expect(csv.output).not.toMatch(/(?:^|,)"?[=+\-@\t]/m);

    const rows = rowsOf(ndjson);
    expect(rows.map((row) => row.external_user_id)).toEqual(['user-1', formula, '@SUM(1), "x"']);
    expect(rows[0]).toEqual({
      id: expect.any(Number) as number,
      type: 'webhook',
      datetime: createdAt.toISOString(),
      method: 'POST',
      path: null,
      url: attempt.url,
      event: 'CARD_UPDATED',
      status_code: 503,
      latency_ms: 84,
      session_id: attempt.sessionId,
      task_id: 25_605,
      external_user_id: 'user-1',
      tool: null,
      agent: null,
      api_key: null,
      error_code: null,
      error_message: null,
      request_id: null,
      endpoint_id: endpointId,
      event_id: eventId,
      reason: 'NON_200',
      delivery: {
        webhook_endpoint_id: endpointId,
        event_id: eventId,
        attempt: 2,
        reason: 'NON_200',
        dns_ms: 1,
        connect_ms: 11,
        tls_ms: null,
        first_byte_ms: 48,
      },
    });
    expect(rows[1]).toMatchObject({ type: 'request', path: '/mcp/tokens/create', delivery: null });
  });

  it('refuses invalid options, and reports that the database is too slow', async () => {
    const unknownId = randomUUID();
    const notTime = 'field must be a date and time such as 2026-01-31T08:15:30Z.';
    await Promise.all([
      commands.expectError(command('pdf'), 'The format must be csv or ndjson.'),
      commands.expectError(`${command('csv')} --start yesterday`, `The start ${notTime}`),
      commands.expectError(`${command('csv')} --end 2026-02-30T00:00:00Z`, `The end ${notTime}`),
      commands.expectError(
        `${command('csv')} --start 2026-01-02T00:00:00Z --end 2026-01-01T00:00:00Z`,
        'The start must not be after the end.',
      ),
      ...[unknownId, 'nobody'].map((id) =>
        commands.expectError(
          `request-log export --client ${id} --format csv`,
          `There is no API client ${id}.`,
        ),
      ),
    ]);

    // Long enough to connect on a busy machine, which has the same limit.
    const late = await locking('request_log', () =>
      commands.inOwnProcess(command('ndjson'), '', { REQUEST_LOG_QUERY_TIMEOUT_MS: '1000' }),
    );
    expect(late).toEqual({
      code: 1,
      output: '',
      errors:
        'The database took too long to read the request log. Retry the command, or increase ' +
        'REQUEST_LOG_QUERY_TIMEOUT_MS.\n',
    });
  });
});

const exportsOf = (environment: string) =>
  service.database.query(
    `SELECT FROM audit_log WHERE action = 'request_log.export' AND actor_name = 'operator' AND target_environment = $1`,
    [environment],
  );

describe('request-log tail', () => {
  const tail = (options = ''): Program =>
    commands.start(`request-log tail --client ${service.development.clientId} ${options}`);
  const usersOf = (output: string): string[] =>
    [...output.matchAll(/(?:user=|"external_user_id":")([\w-]+)/g)].map(([, user]) => user ?? '');

  it('shows the newest entries and then new ones exactly once, including late ones', async () => {
    await add([
      [ago(3 * DAY), 'older'],
      [ago(HOUR), 'old-1'],
      [ago(HOUR - 1), 'old-2'],
      [ago(1_500), 'new-1'],
      [ago(1_000), 'new-2'],
    ]);
    const before = await exportsOf('development');
    // One shows fewer than the recent entries, the other more.
    const [few, more] = [tail('--lines 1'), tail('--lines 3')];
    await Promise.all([few.waitForOutput(/user=new-2/), more.waitForOutput(/user=new-2/)]);
    // Each has left an entry before it showed anything.
    expect(await exportsOf('development')).toHaveLength(before.length + 2);
    await add([[new Date(), 'someone-else']], other);
    const now = new Date();
    await add([
      [now, 'now-1'],
      [now, 'now-2'],
    ]);
    await Promise.all([few.waitForOutput(/user=now-2/), more.waitForOutput(/user=now-2/)]);
    await add([[new Date(now.getTime() - 5 * SECOND), 'late']]);
    await Promise.all([few.waitForOutput(/user=late/), more.waitForOutput(/user=late/)]);
    // Long enough for two more queries of the same period.
    await pause(2_500);

    few.signal('SIGTERM');
    more.signal('SIGINT');
    const ended = [await few.ended, await more.ended].map((end) => usersOf(linesOf(end).join('\n')));
    expect(ended).toEqual([
      ['new-2', 'now-1', 'now-2', 'late'],
      ['old-2', 'new-1', 'new-2', 'now-1', 'now-2', 'late'],
    ]);
  });

  it('shows an entry as one line without control characters, or as JSON', async () => {
    const createdAt = ago(HOUR);
    const attempt = loggedAttempt(service.development, { createdAt });
    await fillRequestLog(service, [attempt]);
    await add([[new Date(createdAt.getTime() + 1), 'a\u001b[2Jb\nc']]);
    const [readable, json] = [tail(), tail('--json')];
    await Promise.all([readable.waitForOutput(/user=a/), json.waitForOutput(/"a/)]);
    for (const program of [readable, json]) program.signal('SIGTERM');

    const [first, second] = [createdAt, new Date(createdAt.getTime() + 1)].map((time) => time.toISOString());
    expect(linesOf(await readable.ended)).toEqual([
      `${first} webhook POST 503    84 ms CARD_UPDATED ${attempt.url} user=user-1 attempt=2 reason=NON_200`,
      `${second} request POST 200    12 ms /mcp/tokens/create user=a\\u{1b}[2Jb\\u{a}c`,
    ]);
    const exported = `request-log export --client ${service.development.clientId} --format ndjson`;
    expect(rowsOf(await json.ended)).toEqual(rowsOf(await commands.run(exported)));
  });

  it('starts with an empty log, and ends when the reader closes the pipe', async () => {
    const program = tail('--lines 0');
    await eventually('it queries for new entries', () =>
      activity('request-logs', `query LIKE '%ORDER BY created_at, id LIMIT%'`),
    );
    await add([[new Date(), 'first']]);
    await program.waitForOutput(/user=first/);
    program.closeOutput();
    await add([[new Date(), 'unread']]);
    expect(await program.ended).toMatchObject({ code: 0, errors: '' });
  });

  it('ends without failure if a signal arrives before it shows entries', async () => {
    await add([[ago(HOUR), 'old']]);
    const program = await locking('api_client', async () => {
      const starting = tail();
      await eventually('it waits for the lock', () => activity('', `wait_event_type = 'Lock'`));
      starting.signal('SIGTERM');
      return starting;
    });
    expect(await program.ended).toMatchObject({ code: 0, errors: '' });
  });

  it('refuses invalid options', async () => {
    const { clientId } = service.development;
    await Promise.all([
      commands.expectError('request-log tail --client nobody', 'There is no API client nobody.'),
      ...['many', '1.5', '1001', "''"].map((lines) =>
        commands.expectError(
          `request-log tail --client ${clientId} --lines ${lines}`,
          'The number of lines must be 0 to 1000.',
        ),
      ),
    ]);
  });
});

describe('request-log partitions', () => {
  interface Part {
    readonly name: string;
    readonly from: string | null;
    readonly to: string | null;
    readonly entries: number;
    readonly bytes: number;
  }

  const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
  const nameOf = (time: Date): string => `request_log_${dayOf(time).replaceAll('-', '')}`;
  const defaultPartitionProblem = (count: number): string =>
    `The default partition contains ${count === 1 ? '1 entry' : `${count} entries`} for days that have no partition. ` +
    'Check that a process runs the background work and that all clocks are correct.\n';

  const rotate = (): Promise<void> => service.app.get(PartitionRotation).run();
  const warnings = (): number[] =>
    logLines()
      .filter(({ message }) => String(message).startsWith('The default partition contains rows'))
      .map(({ rows }) => Number(rows));

  it('lists the partitions, and reports no problem if there is none', async () => {
    await add([
      [new Date(), 'a'],
      [new Date(), 'b'],
    ]);
    await service.database.query('ANALYZE request_log');
    const parts = await commands.result<Part[]>('request-log partitions');
    const today = dayOf(new Date());
    expect(parts).toContainEqual({
      name: nameOf(new Date()),
      from: `${today}T00:00:00.000Z`,
      to: `${dayOf(ago(-DAY))}T00:00:00.000Z`,
      entries: 2,
      bytes: expect.any(Number) as number,
    });
    expect(parts.at(-1)).toMatchObject({ name: 'request_log_default', from: null, to: null, entries: 0 });
  });

  it('reports missing partitions and misplaced entries, which rotation fixes and logs', async () => {
    // The rotation at the start of the service may have seen entries of the tests before.
    const earlier = warnings().length;
    const [today, tomorrow] = [new Date(), ago(-DAY)];
    await service.database.query(`DROP TABLE ${nameOf(today)}, ${nameOf(tomorrow)}`);
    await add([
      [today, 'without partition'],
      [new Date('2031-05-20T10:00:00Z'), 'stray'],
    ]);
    const remedy = 'Start a process with BACKGROUND_WORK=on or worker.js; it creates the partition.';
    const problematic = await commands.run('request-log partitions');
    expect(problematic).toMatchObject({
      code: 1,
      errors:
        `There is no partition for today, ${dayOf(today)}. ${remedy}\n` +
        `There is no partition for tomorrow, ${dayOf(tomorrow)}. ${remedy}\n` +
        defaultPartitionProblem(2),
    });
    const parts = JSON.parse(problematic.output) as Part[];
    expect(parts.map(({ name }) => name)).not.toContain(nameOf(today));
    expect(parts.at(-1)).toMatchObject({ name: 'request_log_default', entries: 2 });

    await rotate();
    expect(warnings().slice(earlier)).toEqual([1]);
    const after = await commands.run('request-log partitions');
    expect(after).toMatchObject({ code: 1, errors: defaultPartitionProblem(1) });

    await service.database.query('DELETE FROM request_log');
    await rotate();
    expect(warnings().slice(earlier)).toEqual([1]);
  });
});
