import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, open, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  shared_preload_libraries: 'citus',
  max_connections: 300,
  // One for each connection of another node that takes part in a two-phase commit.
  max_prepared_transactions: 400,
  // Citus runs one of these for every database.
  max_worker_processes: 64,
  'citus.shard_count': 4,
  'citus.node_conninfo': 'sslmode=disable',
};
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
const START_TIMEOUT = 30_000;

/**
 * Starts a coordinator and its workers with an installed Citus, each a PostgreSQL server on the loopback interface with
 * new data. Citus is not part of this project and must be installed into the PostgreSQL of `binaries`.
 *
 * @param {{ binaries: string, directory: string, workers?: number, durable?: boolean,
 *   settings?: Record<string, string | number> }} options
 */
export async function startCitusCluster({
  binaries,
  directory,
  workers = 2,
  durable = false,
  settings = {},
}) {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const options = { ...SETTINGS, ...(durable ? {} : NOT_DURABLE), ...settings };
  const nodes = await Promise.all(
    ['coordinator', ...Array.from({ length: workers }, (_, index) => `worker-${index + 1}`)].map((name) =>
      startNode({ binaries, directory: join(directory, name), options }),
    ),
  );
  const [coordinator, ...others] = nodes;

  return {
    nodes,
    urlOf: (database, node = coordinator) => urlOf(node, database),
    onNode,
    /**
     * Creates a database on every node, in which tables can be distributed to the workers.
     *
     * @param ports where the coordinator connects to the workers, if not directly
     */
    async createDatabase(name, ports = others.map(({ port }) => port)) {
      for (const node of nodes) {
        await onNode(node, 'postgres', `CREATE DATABASE ${name}`);
        await onNode(node, name, 'CREATE EXTENSION citus');
      }
      await onNode(coordinator, name, `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
      for (const port of ports) {
        await onNode(coordinator, name, `SELECT citus_add_node('127.0.0.1', ${port})`);
      }
    },
    /** Ends the connections of a database and refuses new ones, so that the database can be cloned. */
    async close(name) {
      for (const node of nodes) {
        await onNode(node, 'postgres', `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
        await onNode(
          node,
          'postgres',
          `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
        );
      }
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function startNode({ binaries, directory, options }) {
  const user = process.getuid() === 0 ? await userNamed('postgres') : {};
  await mkdir(directory, { mode: 0o700 });
  if (user.uid) await chown(directory, user.uid, user.gid);
  const settings = { cwd: '/', env: { PATH: process.env.PATH, HOME: directory }, ...user };
  const initdb = ['-D', directory, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', 'C.UTF-8'];
  await run(join(binaries, 'initdb'), [...initdb, '--no-sync'], settings);
  const port = await freePort();
  const node = { port, directory, server: undefined };

  node.start = async () => {
    const log = await open(`${directory}.log`, 'a');
    const args = Object.entries({ ...options, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    node.server = spawn(join(binaries, 'postgres'), ['-D', directory, ...args], {
      ...settings,
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    await untilReady(node);
  };
  /** @param signal SIGINT ends all sessions, SIGQUIT and SIGKILL end the server as a crash does */
  node.stop = async (signal = 'SIGINT') => {
    if (node.server.exitCode !== null || node.server.signalCode !== null) return;
    const ended = once(node.server, 'exit');
    node.server.kill(signal);
    await ended;
  };
  await node.start();
  return node;
}

async function untilReady(node) {
  const deadline = performance.now() + START_TIMEOUT;
  for (;;) {
    try {
      return await onNode(node, 'postgres', 'SELECT 1');
    } catch (error) {
      if (node.server.exitCode !== null || performance.now() > deadline) {
        const log = await readFile(`${node.directory}.log`, 'utf8');
        throw new Error(`PostgreSQL did not start: ${log.slice(-2_000)}`, { cause: error });
      }
      await pause(50);
    }
  }
}

function urlOf({ port }, database) {
  return `postgres://postgres:postgres@127.0.0.1:${port}/${database}`;
}

/** Runs a statement in a database of one node. */
async function onNode(node, database, statement) {
  const client = new pg.Client({ connectionString: urlOf(node, database) });
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}

async function userNamed(name) {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((option) => run('id', [option, name])));
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
