import { randomBytes } from 'node:crypto';
import { SECOND } from '../../src/infrastructure/time/index.js';
import { UserErasuresService } from '../../src/modules/external-users/user-erasures.service.js';
import { mcpToken } from '../support/agents.js';
import { moveClock } from '../support/clock.js';
import { finishErasures, placesOf } from '../support/erasures.js';
import { COMMAND_TIMEOUT, Commands } from '../support/commands.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/program.js';
import { rememberSecret } from '../support/run-directory.js';
import { startTestApp, type TestApp, type TestResponse } from '../support/test-app.js';

interface Erasure {
  readonly status: string;
  readonly erased: number;
  readonly requested_at: string;
  readonly finished_at: string | null;
}

const KEYS = {
  SECRET_PEPPER: randomBytes(32).toString('base64'),
  KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};

let service: TestApp;

beforeAll(async () => {
  rememberSecret(...Object.values(KEYS));
  service = await startTestApp({
    ...KEYS,
  });
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
});

const newUser = (): string => `person-${randomBytes(8).toString('hex')}`;
const pathOf = (user: string): string => `/external-users/${encodeURIComponent(user)}`;
const erase = (user: string, as = service.development): Promise<TestResponse<Erasure>> =>
  service.request<Erasure>(pathOf(user), { method: 'DELETE', as });
const progressOf = (user: string, as = service.development): Promise<TestResponse<Erasure>> =>
  service.request<Erasure>(`${pathOf(user)}/erasure`, { as });
const tablesOf = (user: string): Promise<string[]> => placesOf(service, user);

async function countOf(table: string, user: string): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ${table} WHERE external_user_id = $1`,
    [user],
  );
  return row?.count ?? 0;
}

describe('npm run cli -- external-user', () => {
  it(
    'erases a user of a client, and shows the progress',
    async () => {
      const environment = { ...KEYS, DATABASE_URL: service.database.url, DATA_DIR: service.dataDirectory };
      const commands = new Commands(environment);
      const user = newUser();
      await mcpToken(service, user);
      const options = `--client ${service.development.clientId}`;
      await commands.expectError(
        `external-user erasure ${options} --user ${user}`,
        'There is no erasure of a user with this ID.',
      );
      expect(await commands.result(`external-user erase ${options}`, `${user}\n`)).toMatchObject({
        status: 'running',
        erased: 1,
      });
      expect(await tablesOf(user)).not.toContain('mcp_token');
      const [entry] = await service.database.query(
        "SELECT actor_name, target_name FROM audit_log WHERE action = 'external_user.erase' ORDER BY sequence DESC LIMIT 1",
      );
      expect(entry).toEqual({ actor_name: 'operator', target_name: null });
      await finishErasures(service);
      expect(await tablesOf(user)).toEqual([]);
      expect(await commands.result(`external-user erasure ${options} --user ${user}`)).toMatchObject({
        status: 'finished',
      });
      await commands.expectError(
        `external-user erase ${options} --user ${'x'.repeat(257)}`,
        'The user field must not be greater than 256 characters.',
      );
    },
    COMMAND_TIMEOUT,
  );
});

describe('An erasure', () => {
  const MANY = 30_000;

  /** Adds many entries and events of the user. All entries are from yesterday, because a batch ends with its day. */
  async function fill(user: string): Promise<void> {
    const values = [service.development.clientId, user, MANY];
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms, external_user_id)
       SELECT $1, 'development', date_trunc('day', now(), 'UTC') - n * interval '1 second', 'request', 'POST', '/events', 200, 1,
              $2::text
         FROM generate_series(1, $3::integer) n`,
      values,
    );
    await service.database.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, external_user_id, body)
       SELECT gen_random_uuid(), now() - n * interval '1 second', $1, 'development', 'CARD_UPDATED', $2::text,
              convert_to('{"external_user_id":"' || $2::text || '"}', 'UTF8')
         FROM generate_series(1, $3::integer / 10) n`,
      values,
    );
  }

  it('continues where it was when its process is killed', async () => {
    const user = newUser();
    await fill(user);
    await erase(user);
    const environment = {
      ...KEYS,
      DATABASE_URL: service.database.url,
      DATA_DIR: service.dataDirectory,
      BACKGROUND_WORK: 'on',
    };
    const worker = new Program('worker.js', { environment });
    const left = () => countOf('request_log', user);
    await eventually('the process works', async () => (await left()) < MANY - 1_000, 60_000);
    worker.signal('SIGKILL');
    await worker.ended;
    const rest = await left();
    expect(rest).toBeGreaterThan(0);
    // Nobody else continues before the lease ends.
    await service.app.get(UserErasuresService).run();
    expect(await left()).toBe(rest);
    {
      using _later = moveClock(service, 31 * SECOND);
      await service.app.get(UserErasuresService).run();
    }
    expect(await left()).toBe(0);
    await finishErasures(service);
    const { body } = await progressOf(user);
    expect(body).toMatchObject({ status: 'finished', erased: MANY + MANY / 10 });
    expect(await tablesOf(user)).toEqual([]);
  }, 120_000);
});
