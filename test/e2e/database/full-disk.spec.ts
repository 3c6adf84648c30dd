import { DailyPartitions } from '../../../src/infrastructure/database/index.js';
import { DAY } from '../../../src/infrastructure/time/index.js';
import { eventually } from '../../support/eventually.js';
import { logLines } from '../../support/logs/log-lines.js';
import { CREATE_MCP_TOKEN, SEARCH_DETECTED_ACCOUNTS } from '../../support/documents/operations.js';
import { error, useTestApp } from '../../support/test-app.js';

/** The error of PostgreSQL on a full disk. `npm run bench:faults` fills a real one. */
const REFUSAL = `RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = 'disk_full'`;

const service = useTestApp();
beforeAll(async () => {
  await service.database.query(
    // Each index and table has its own file.
    `CREATE SEQUENCE file_number;
     CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE EXCEPTION 'could not extend file "base/1/%": No space left on device', nextval('file_number')
         USING ERRCODE = 'disk_full';
     END $$`,
  );
  await service.database.query(
    `CREATE FUNCTION no_room_for_tables() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN ${REFUSAL}; END $$`,
  );
});

/** Makes all inserts into the table fail while the work runs. */
async function whileFull(table: string, work: () => Promise<void>): Promise<void> {
  await service.database.query(
    `CREATE TRIGGER full_disk BEFORE INSERT ON ${table} EXECUTE FUNCTION no_room()`,
  );
  try {
    await work();
  } finally {
    await service.database.query(`DROP TRIGGER full_disk ON ${table}`);
  }
}

async function logged(): Promise<string[]> {
  const rows = await service.database.query<{ user: string }>(
    'SELECT external_user_id AS "user" FROM request_log ORDER BY 1',
  );
  return rows.map(({ user }) => user);
}

/** Collects the log messages of the request log from now on. */
function listen(): () => unknown[] {
  const before = logLines().length;
  return () =>
    logLines()
      .slice(before)
      .filter(({ context }) => context === 'RequestLogs')
      .map(({ level, message }) => [level, message]);
}

describe('A full disk', () => {
  it('keeps request log entries in memory, logs it once, and does not fail requests', async () => {
    const users = ['one', 'three', 'two'];
    const lines = listen();
    await whileFull('request_log', async () => {
      for (const user of users) {
        const { status } = await service.request(SEARCH_DETECTED_ACCOUNTS.path, {
          body: { ...SEARCH_DETECTED_ACCOUNTS.body, external_user_id: user },
          as: service.development,
        });
        expect(status).toBe(200);
      }
      // Longer than the retry delay.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(await logged()).toEqual([]);
      expect(lines()).toEqual([
        [
          'warn',
          expect.stringMatching(
            /^Request log entries are waiting in memory: could not extend file "base\/1\/\d+": No space left on device$/,
          ),
        ],
      ]);
    });
    await eventually('they are written', async () => (await logged()).length === users.length);
    expect(await logged()).toEqual(users);
    // The entries can be read a moment before the process knows that they are stored.
    await eventually('the line is logged', () => lines().length > 1);
    expect(lines().slice(1)).toEqual([['log', 'Writing request log entries has resumed']]);
  });

  it('fails requests that must write with 503', async () => {
    await whileFull('mcp_token', async () => {
      const { status, headers, body } = await service.request(CREATE_MCP_TOKEN.path, {
        body: CREATE_MCP_TOKEN.body,
        as: service.production,
      });
      expect([status, body]).toEqual([
        503,
        error(
          'API_ERROR',
          'SERVICE_UNAVAILABLE',
          'The service is temporarily unavailable. Retry after the time in the Retry-After header.',
        ),
      ]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    });
  });

  it('does not prevent dropping old partitions', async () => {
    const partitions = service.app.get(DailyPartitions);
    const before = await partitions.status('request_log');
    await service.database.query(
      `CREATE EVENT TRIGGER full_disk ON ddl_command_start WHEN TAG IN ('CREATE TABLE')
       EXECUTE FUNCTION no_room_for_tables()`,
    );
    const later = new Date(Date.now() + 32 * DAY);
    try {
      await expect(partitions.rotate('request_log', later, { days: 30 })).rejects.toThrow(
        /No space left on device/,
      );
      const left = await partitions.status('request_log');
      expect(left.length).toBeLessThan(before.length);
      expect(left.filter(({ to }) => to !== null && to < new Date(later.getTime() - 30 * DAY))).toEqual([]);
    } finally {
      await service.database.query('DROP EVENT TRIGGER full_disk');
    }
    await partitions.rotate('request_log', later, { days: 30 });
    expect((await partitions.status('request_log')).some(({ from }) => from !== null && from > later)).toBe(
      true,
    );
  });
});
