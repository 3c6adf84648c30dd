import { randomUUID } from 'node:crypto';
import pg from 'pg';
import {
  checkDistribution,
  DatabaseConfiguration,
  distribute,
  failedNodeConnections,
  migrate,
} from '../../src/infrastructure/database/index.js';
import { disownSequence } from '../../src/infrastructure/database/id-sequence.js';
import { Commands, COMMAND_TIMEOUT } from '../support/commands.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';
import { Program } from '../support/program.js';

const NO_EXTENSION =
  'The database does not have the extension citus. Run "CREATE EXTENSION citus" in the database of every node, or set DATABASE_DISTRIBUTION=none.';
const CLIENTS = Array.from({ length: 5 }, () => randomUUID());
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

const move = (report: (sentence: string) => void = () => undefined): ReturnType<typeof distribute> =>
  distribute(configured(), {
    shards: 4,
    retentionDays: 30,
    now: () => new Date(),
    rotationJob: 'rotation',
    readingJob: 'rollups',
    report,
  });

describeServer('DATABASE_DISTRIBUTION=citus without Citus', () => {
  it('does not change the sequence of the IDs again for a second move, which Citus would refuse', async () => {
    const ownerOf = async (): Promise<object[]> =>
      database.query(`SELECT pg_get_serial_sequence('request_log', 'id') AS sequence`);
    const query = <Result>(statement: string, parameters?: unknown[]): Promise<Result> =>
      database.query(statement, parameters) as Promise<Result>;
    expect(await ownerOf()).toEqual([{ sequence: 'public.request_log_id_seq' }]);
    await disownSequence(query, 'request_log');
    expect(await ownerOf()).toEqual([{ sequence: null }]);
    await database.query(
      `CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
       CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('ALTER SEQUENCE') EXECUTE FUNCTION refuse()`,
    );
    await disownSequence(query, 'request_log');
    await database.query('DROP EVENT TRIGGER refuse; DROP FUNCTION refuse()');
    await database.query('ALTER SEQUENCE request_log_id_seq OWNED BY request_log.id');
  });

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
    await expect(move()).rejects.toThrow(NO_EXTENSION);
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
      'DATABASE_DISTRIBUTION is citus, but not all tables are distributed yet: request_log. Run "npm run cli -- database distribute".',
    );
  });

  it('can be given up before the exchange, and repeated', async () => {
    await append(database, new Date(), 10);
    const isGivenUp = new Error('given up');
    const stop = (sentence: string): void => {
      if (/exchanging/.test(sentence)) throw isGivenUp;
    };
    for (const _ of [1, 2]) {
      await expect(move(stop)).rejects.toThrow(isGivenUp);
      await database.query(
        'DROP SCHEMA request_log_distributed CASCADE; DROP SCHEMA request_log_local CASCADE',
      );
    }
    expect(await database.query('SELECT count(*)::int AS count FROM request_log')).toEqual([{ count: 10 }]);
    await database.query('DELETE FROM request_log');
  });

  it('moves a log of several days that is read and written, without missing an entry', async () => {
    const days = [0, 1, 2].map((age) => new Date(Date.now() - age * 86_400_000));
    for (const day of days)
      await database.query('SELECT create_daily_partition($1, $2)', ['request_log', day]);
    for (const day of [...days, new Date(Date.now() + 400 * 86_400_000)]) await append(database, day, 500);
    const traffic = new Traffic();
    const [writing, reading] = [traffic.write(days), traffic.read()];
    const sentences: string[] = [];
    try {
      expect(await move((sentence) => sentences.push(sentence))).toMatchObject([
        { table: 'request_log', column: 'client_id', shards: 4 },
      ]);
      await traffic.untilWritten(500);
    } finally {
      traffic.stop();
      await Promise.all([writing, reading]);
    }
    expect(sentences).toContain('request_log: exchanging the tables');
    const [stored] = await database.query<{ entries: number; ids: number }>(
      'SELECT count(*)::int AS entries, count(DISTINCT id)::int AS ids FROM request_log',
    );
    expect(stored).toEqual({ entries: 4 * 500 + traffic.written, ids: 4 * 500 + traffic.written });
    expect(traffic.missed).toEqual([]);
    expect(await move()).toMatchObject([{ moved: 0 }]);
    await checkDistribution(configured());
    const left = await database.query(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'request_log%'`);
    expect(left).toEqual([]);
  }, 60_000);
});

/** Writes entries of all clients like the service, and checks that each client still has what was committed before. */
class Traffic {
  written = 0;
  readonly missed: string[] = [];
  private readonly committed = new Map(CLIENTS.map((client) => [client, 0]));
  private isStopped = false;

  async write(days: readonly Date[]): Promise<void> {
    const connection = new pg.Client({ connectionString: database.url });
    await connection.connect();
    for (let turn = 0; !this.isStopped; turn += 1) {
      const day = days[turn % days.length] ?? new Date();
      await append(
        { query: (text, values) => connection.query({ name: 'append', text, values: values ?? [] }) },
        day,
        CLIENTS.length,
      );
      for (const client of CLIENTS) this.committed.set(client, (this.committed.get(client) ?? 0) + 1);
      this.written += CLIENTS.length;
    }
    await connection.end();
  }

  async read(): Promise<void> {
    for (let turn = 0; !this.isStopped; turn += 1) {
      const client = CLIENTS[turn % CLIENTS.length] ?? randomUUID();
      const before = this.committed.get(client) ?? 0;
      const [row] = await database.query<{ entries: number }>(
        'SELECT count(*)::int AS entries FROM request_log WHERE client_id = $1 AND latency_ms = $2',
        [client, CLIENTS.length],
      );
      if ((row?.entries ?? 0) < before) this.missed.push(`${row?.entries} of ${before}`);
    }
  }

  async untilWritten(more: number): Promise<void> {
    const goal = this.written + more;
    while (this.written < goal) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  stop(): void {
    this.isStopped = true;
  }
}

/** The latency tells the entries of the traffic from those before. */
async function append(
  connection: { query(text: string, values?: unknown[]): Promise<unknown> },
  day: Date,
  count: number,
): Promise<void> {
  await connection.query(
    `INSERT INTO request_log (client_id, environment, created_at, type, method, status_code, latency_ms)
     SELECT ($1::uuid[])[1 + number % cardinality($1::uuid[])], 'production', $2::timestamptz, 'request', 'POST', 200, $3::int
       FROM generate_series(1, $3::int) number`,
    [CLIENTS, day, count],
  );
}
