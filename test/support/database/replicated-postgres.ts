import { chmodSync, mkdtempSync } from 'node:fs';
import { appendFile, chown, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  createCluster,
  locateCluster,
  readPassword,
  SUPERUSER,
  type Cluster,
} from '../../../src/infrastructure/embedded-postgres/cluster.js';
import { run } from '../../../src/infrastructure/embedded-postgres/programs.js';
import {
  readPostmaster,
  startServer,
  stopServer,
} from '../../../src/infrastructure/embedded-postgres/server.js';

const MAX_ATTEMPTS = 10;

/** A PostgreSQL server that a test starts and stops. It keeps its port. */
export class PostgresServer {
  private port: number | undefined;
  private password = '';

  constructor(private readonly cluster: Cluster) {}

  /** The URL of the database `postgres`. */
  get url(): string {
    return `postgres://${SUPERUSER}:${this.password}@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    this.password = (await readPassword(this.cluster)) ?? '';
    // Another process can take the port just before.
    for (let attempt = 1; !(await this.tryToStart()); attempt += 1)
      if (attempt === MAX_ATTEMPTS) throw new Error(`PostgreSQL did not start: ${this.cluster.log}`);
    this.port = (await readPostmaster(this.cluster))?.port;
  }

  stop(): Promise<void> {
    return stopServer(this.cluster);
  }

  async query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]> {
    const client = new pg.Client(this.url);
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  }

  private tryToStart(): Promise<boolean> {
    return startServer(this.cluster, { isDurable: true, stale: undefined, port: this.port });
  }
}

/**
 * Starts a primary and streaming replicas of it. A replica is a copy of the data directory from before the first start of the
 * primary, so that no backup is necessary.
 */
export async function startReplicatedPostgres<Names extends string>(
  ...names: Names[]
): Promise<Record<Names | 'primary', PostgresServer>> {
  const folder = mkdtempSync(join(tmpdir(), 'replicated-'));
  // When root runs the test, PostgreSQL runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  const cluster = await locateCluster(join(folder, 'primary'), () => undefined);
  await createCluster(cluster, false);
  const copies = names.map((name) => ({ name, directory: `${cluster.directory}-${name}` }));
  for (const { directory } of copies) {
    const { isOk, output } = await run('cp', ['-a', cluster.directory, directory]);
    if (!isOk) throw new Error(output);
  }
  const primary = new PostgresServer(cluster);
  await primary.start();
  const replicas = await Promise.all(
    copies.map(async ({ name, directory }) => {
      await followPrimary(directory, primary.url);
      const replica = new PostgresServer({ ...cluster, directory, log: `${directory}.log` });
      await replica.start();
      return [name, replica] as const;
    }),
  );
  return { primary, ...Object.fromEntries(replicas) } as Record<Names | 'primary', PostgresServer>;
}

async function followPrimary(directory: string, primaryUrl: string): Promise<void> {
  const settings = [
    `primary_conninfo = '${primaryUrl}'`,
    `wal_retrieve_retry_interval = 100ms`,
    // A query that is in the way of a change is canceled at once.
    'max_standby_streaming_delay = 0',
  ];
  await appendFile(join(directory, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  const { uid, gid } = await stat(directory);
  const signal = join(directory, 'standby.signal');
  await writeFile(signal, '');
  await chown(signal, uid, gid);
}
