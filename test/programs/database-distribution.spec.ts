import { randomUUID } from 'node:crypto';
import pg from 'pg';
import {
  checkDistribution,
  DatabaseConfiguration,
  distribute,
  failedNodeConnections,
  migrate,
} from '../../src/infrastructure/database/index.js';
import { Commands, COMMAND_TIMEOUT } from '../support/programs/commands.js';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { Program } from '../support/programs/program.js';

const NO_EXTENSION =
  'The database does not have the extension citus. Run "CREATE EXTENSION citus" in the database of every node, or set DATABASE_DISTRIBUTION=none.';
const CLIENTS = Array.from({ length: 5 }, () => randomUUID());
const DAY = 86_400_000;
const DAYS = [0, 1, 2].map((age) => new Date(Date.now() - age * DAY));
const isCluster = process.env.TEST_WORKER_URLS !== undefined;
/** Only runs in a cluster: TEST_CITUS_BINARIES. */
const describeCluster = isCluster ? describe : describe.skip;
const describeServer = isCluster ? describe.skip : describe;

let database: TestDatabase;

beforeAll(async () => {
  database = await cloneDatabase({ empty: true });
  await migrate(database.url);
});
afterAll(async () => {
  await Program.endAll();
  await database.drop();
});

const configured = (): DatabaseConfiguration =>
  Object.assign(new DatabaseConfiguration(), { url: database.url, distribution: 'citus' });

const distributed = (report: (sentence: string) => void = () => undefined): ReturnType<typeof distribute> =>
  distribute(configured(), { shards: 4, report });

describeServer('DATABASE_DISTRIBUTION=citus without Citus', () => {
  it('finds the nodes that cannot connect to each other', async () => {
    // Stands in for the function of Citus.
    await database.query(
      `CREATE FUNCTION citus_check_cluster_node_health(
         OUT from_nodename text, OUT from_nodeport int, OUT to_nodename text, OUT to_nodeport int, OUT result bool)
       RETURNS SETOF record LANGUAGE sql AS $$
         VALUES ('coordinator', 5432, 'worker-1', 5432, true), ('worker-1', 5432, 'worker-1', 5432, false),
                ('worker-2', 5432, 'worker-1', 5432, NULL) $$`,
    );
    const { username } = new URL(database.url);
    expect(await failedNodeConnections(configured())).toEqual([
      `worker-1:5432 cannot connect to worker-1:5432 as ${username}.`,
      `worker-2:5432 cannot connect to worker-1:5432 as ${username}.`,
    ]);
    await database.query('DROP FUNCTION citus_check_cluster_node_health()');
  });

  it('is refused at the start, and by each command', async () => {
    await expect(checkDistribution(configured())).rejects.toThrow(NO_EXTENSION);
    await expect(distributed()).rejects.toThrow(NO_EXTENSION);
  });

  it(
    'is explained by database distribute and doctor',
    async () => {
      const commands = new Commands({ DATABASE_URL: database.url, DATABASE_DISTRIBUTION: 'citus' });
      const command = await commands.run('database distribute');
      expect(command).toMatchObject({ code: 1, errors: `${NO_EXTENSION}\n` });
      const invalid = await commands.run('database distribute --shards 0');
      expect(invalid).toMatchObject({ code: 1, errors: 'The number of shards must be 1 to 1024.\n' });
      const { output } = await commands.run('doctor');
      expect(JSON.parse(output)).toContainEqual(
        expect.objectContaining({ check: 'distribution', status: 'failed', finding: NO_EXTENSION }),
      );
    },
    COMMAND_TIMEOUT,
  );
});

describeCluster('database distribute', () => {
  it('asks for itself if a table is not distributed yet', async () => {
    await expect(checkDistribution(configured())).rejects.toThrow(
      'DATABASE_DISTRIBUTION is citus, but not all tables are distributed yet: request_log. Run "mcs-admin database distribute".',
    );
  });

  it('is refused on a filled log while the service runs', async () => {
    await append(DAYS[0] as Date);
    const service = new pg.Client({
      connectionString: database.url,
      application_name: 'merchant-connectivity-service',
    });
    await service.connect();
    await expect(distributed()).rejects.toThrow(
      'request_log has rows, and the service has 1 connections to the database. Stop all its processes first',
    );
    await service.end();
  });

  it('distributes a log of several days with all entries, and can be repeated', async () => {
    for (const day of DAYS)
      await database.query('SELECT create_daily_partition($1, $2)', ['request_log', day]);
    for (const day of [...DAYS, new Date(Date.now() + 400 * DAY)]) await append(day);
    const entries = () => database.query('SELECT * FROM request_log ORDER BY id');
    const before = await entries();
    const sentences: string[] = [];
    expect(await distributed((sentence) => sentences.push(sentence))).toMatchObject([
      { table: 'request_log', column: 'client_id', shards: 4 },
    ]);
    expect(sentences[0]).toBe('Distributing request_log. Until this ends, nobody can read or write it.');
    expect(sentences).toContainEqual(expect.stringMatching(/^\d+ s: .*copying the data has completed/i));
    expect(await entries()).toEqual(before);
    expect(await distributed()).toMatchObject([{ shards: 4 }]);
    await checkDistribution(configured());
  }, 60_000);
});

async function append(day: Date): Promise<void> {
  await database.query(
    `INSERT INTO request_log (client_id, environment, created_at, type, method, status_code, latency_ms)
     SELECT ($1::uuid[])[1 + number % cardinality($1::uuid[])], 'production', $2::timestamptz, 'request', 'POST', 200, 1
       FROM generate_series(1, 500) number`,
    [CLIENTS, day],
  );
}
