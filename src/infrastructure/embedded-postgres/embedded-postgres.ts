import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  createCluster,
  locateCluster,
  readIfExists,
  readPassword,
  SUPERUSER,
  type Cluster,
} from './cluster.js';
import { explain, programFailure } from './embedded-postgres.error.js';
import { Presence } from './presence.js';
import { readPostmaster, startServer, stopServer } from './server.js';

const START_TIMEOUT_MS = 120_000;
const RETRY_INTERVAL_MS = 100;

/**
 * A server accepts connections within milliseconds of writing its pid. If nothing accepts connections on the server's
 * port within this time, the pid belongs to an unrelated process.
 */
const UNRESPONSIVE_AFTER_MS = 2_000;

const INVALID_PASSWORD = '28P01';

export interface EmbeddedPostgres {
  /** postgres://user:password@127.0.0.1:port/database */
  readonly url: string;
  /** The data directory. If the process runs as root, it may differ from the requested directory. */
  readonly directory: string;
  /** Stops the server if no other process uses it. Close your own connections first. */
  release(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The data directory; the server's log is written next to it. */
  readonly directory: string;
  /** Created if it does not exist. */
  readonly database?: string;
  /** False for tests: if the server crashes, data may be lost. */
  readonly durable?: boolean;
  readonly report?: (message: string) => void;
}

/**
 * Gives access to the PostgreSQL server of a directory. Any number of processes share it: the first one creates and
 * starts it, the last one to release it stops it.
 *
 * @throws EmbeddedPostgresError
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database = 'merchant_connectivity', durable = true, report = () => undefined } = options;
  const requested = resolve(options.directory);
  try {
    const cluster = await locateCluster(requested, report);
    let port: number | undefined;
    const startAndJoinServer = (): Promise<void> =>
      startAndJoin(cluster, presence, { isDurable: durable, report, port });
    const presence = new Presence(() => urlOf(cluster), database, startAndJoinServer);
    await startAndJoinServer();
    const url = await urlOf(cluster);
    // If this process restarts the server, the port must stay the same, because the URL below contains it.
    port = Number(new URL(url).port);
    let released: Promise<void> | undefined;
    return {
      url: `${url}/${encodeURIComponent(database)}`,
      directory: cluster.directory,
      release: () => (released ??= presence.leave(() => stopServer(cluster))),
    };
  } catch (error) {
    throw explain(error, requested);
  }
}

interface StartOptions {
  readonly isDurable: boolean;
  readonly report: (message: string) => void;
  readonly port: number | undefined;
}

/** Joins the running server, or starts it and joins it. Other processes may do the same at any moment. */
async function startAndJoin(
  cluster: Cluster,
  presence: Presence,
  { isDurable, report, port }: StartOptions,
): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let lastResponse = performance.now();
  while (performance.now() < deadline) {
    const postmaster = await readPostmaster(cluster);
    if (postmaster && isAlive(postmaster.pid)) {
      try {
        return await presence.join();
      } catch (error) {
        // A server that responds with an error is starting or stopping. If it rejects the password, it belongs to
        // another cluster.
        if (error instanceof pg.DatabaseError && error.code !== INVALID_PASSWORD)
          lastResponse = performance.now();
      }
      await sleep(RETRY_INTERVAL_MS);
      if (performance.now() - lastResponse < UNRESPONSIVE_AFTER_MS) continue;
    }
    report('Starting PostgreSQL…');
    if (!(await readPassword(cluster))) await createCluster(cluster, isDurable);
    if (!(await startServer(cluster, { isDurable, stale: postmaster, port }))) await sleep(RETRY_INTERVAL_MS);
    lastResponse = performance.now();
  }
  const log = (await readIfExists(cluster.log)) ?? '';
  throw await programFailure(
    cluster,
    `PostgreSQL did not become ready. See the server log: ${cluster.log}.`,
    log,
  );
}

async function urlOf(cluster: Cluster): Promise<string> {
  const password = await readPassword(cluster);
  const postmaster = await readPostmaster(cluster);
  if (!password || !postmaster) throw new Error('The server is not running');
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${postmaster.port}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
