import { SECOND } from '../../src/infrastructure/time/index.js';
import { UserErasuresJob } from '../../src/modules/external-users/user-erasures.job.js';
import { mcpToken } from '../support/agents/agents.js';
import { moveClock } from '../support/clock.js';
import { erasuresOf, finishErasures, MANY, newUser } from '../support/merchants/erasures.js';
import { COMMAND_TIMEOUT, Commands } from '../support/programs/commands.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/programs/program.js';
import { newKeys, useTestApp } from '../support/test-app.js';

const KEYS = newKeys();
afterAll(() => Program.endAll());
const service = useTestApp(KEYS);
const { erase, progressOf, tablesOf, countOf, addEntriesOf } = erasuresOf(service);

describe('mcs-admin external-user', () => {
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
  it('continues where it was when its process is killed', async () => {
    const user = newUser();
    await addEntriesOf(user);
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
    await service.app.get(UserErasuresJob).run();
    expect(await left()).toBe(rest);
    {
      using _later = moveClock(service, 31 * SECOND);
      await service.app.get(UserErasuresJob).run();
    }
    expect(await left()).toBe(0);
    await finishErasures(service);
    const { body } = await progressOf(user);
    expect(body).toMatchObject({ status: 'finished', erased: MANY + MANY / 10 });
    expect(await tablesOf(user)).toEqual([]);
  }, 120_000);
});
