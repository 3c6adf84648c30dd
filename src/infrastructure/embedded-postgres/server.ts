import { spawn } from 'node:child_process';
import { open, readFile, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readIfExists, type Cluster } from './cluster.js';
import { programFailure } from './embedded-postgres.error.js';
import { run, SPAWN_OPTIONS } from './programs.js';

const MAX_LOG_BYTES = 10 * 2 ** 20;
const POLL_INTERVAL_MS = 20;
const STOP_TIMEOUT_MS = 60_000;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Excludes failed statements: they contain values of rows, and the application logs its own errors.
  log_min_messages: 'log',
};
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Another process took the port or started the server first, or parts of a killed server are still running. */
const TEMPORARY = /could not bind|lock file "postmaster.pid" already exists|pre-existing shared memory block/;

/** PostgreSQL creates its lock file empty and writes its pid next, so a second server may find the empty file. */
const EMPTY_LOCK_FILE = /lock file "postmaster.pid" is empty/;
/** A lock file that stays empty for longer is what a crash left. Only a person may delete it. */
const LOCK_FILE_EMPTY_MS = 5_000;

/** The content of `postmaster.pid`, which a killed server leaves behind. */
export interface Postmaster {
  readonly pid: number;
  /** Distinguishes servers that had the same pid. */
  readonly id: string;
  readonly port: number;
  readonly isReady: boolean;
}

export async function readPostmaster({ directory }: Cluster): Promise<Postmaster | undefined> {
  const lines = (await readIfExists(join(directory, 'postmaster.pid')))?.split('\n') ?? [];
  const [pid = 0, , , port = 0] = lines.map(Number);
  // PostgreSQL writes the file line by line, so the port may be missing.
  return pid > 0 && port > 0
    ? { pid, id: lines.slice(0, 3).join(), port, isReady: lines[7]?.trim() === 'ready' }
    : undefined;
}

interface StartOptions {
  readonly isDurable: boolean;
  readonly stale: Postmaster | undefined;
  readonly port: number | undefined;
}

/**
 * Starts the server and waits until it accepts connections.
 *
 * @param options.port the default is the port of the dead server, or a free one
 * @param options.stale left behind by a dead server. After a reboot, another process often has its pid. PostgreSQL then
 * refuses to start unless PG_GRANDPARENT_PID names that pid.
 * @returns false if the server could not start for a temporary reason; then look for a running one and retry
 */
export async function startServer(
  cluster: Cluster,
  { isDurable, stale, port }: StartOptions,
): Promise<boolean> {
  // The previous port lets processes that outlived the previous server reconnect.
  const settings = {
    ...SETTINGS,
    ...(isDurable ? {} : NOT_DURABLE),
    port: port ?? stale?.port ?? (await freePort()),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logged = await stat(cluster.log)
    .then(({ size }) => size)
    .catch(() => 0);
  const log = await open(cluster.log, logged > MAX_LOG_BYTES ? 'w' : 'a', 0o600);
  if (cluster.user) await log.chown(cluster.user.uid, cluster.user.gid);
  const { size: logStart } = await log.stat();
  // The shell ends at once, so that the server is not a child of this process: neither Ctrl-C nor a tool that restarts
  // the service reaches it. The pipe (stdio 3) closes when the server ends.
  const command = ['-c', '"$0" "$@" &', cluster.programs.postgres, '-D', cluster.directory, ...args];
  let hasEnded = false;
  const shell = spawn('/bin/sh', command, {
    ...SPAWN_OPTIONS,
    env: { ...SPAWN_OPTIONS.env, ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
    ...cluster.user,
    detached: true,
    stdio: ['ignore', log.fd, log.fd, 'pipe'],
  })
    .once('error', () => (hasEnded = true))
    .once('close', () => (hasEnded = true));
  await log.close();
  while (!hasEnded) {
    const postmaster = await readPostmaster(cluster);
    if (postmaster?.isReady && postmaster.id !== stale?.id) break;
    await sleep(POLL_INTERVAL_MS);
  }
  shell.stdio[3]?.destroy();
  if (!hasEnded) return true;
  const output = (await readFile(cluster.log)).subarray(logStart).toString();
  if (TEMPORARY.test(output)) return false;
  if (EMPTY_LOCK_FILE.test(output) && (await emptyTimeOf(cluster)) < LOCK_FILE_EMPTY_MS) return false;
  throw await programFailure(cluster, `PostgreSQL did not start. Its log is ${cluster.log}.`, output);
}

/** @returns the milliseconds between the creation of the empty lock file and the message about it; 0 if it is gone */
async function emptyTimeOf({ directory, log }: Cluster): Promise<number> {
  const file = await stat(join(directory, 'postmaster.pid')).catch(() => undefined);
  return file ? (await stat(log)).mtimeMs - file.mtimeMs : 0;
}

/**
 * Stops the server, even if sessions are open, and waits until it has ended. `pg_ctl` does not wait: if another process starts
 * the server again at once, it would wait for the new server to end.
 */
export async function stopServer(cluster: Cluster): Promise<void> {
  const stopped = await readPostmaster(cluster);
  if (!stopped) return;
  const hasEnded = async (): Promise<boolean> => (await readPostmaster(cluster))?.id !== stopped.id;
  const args = ['stop', '-D', cluster.directory, '-m', 'fast', '-W'];
  const { isOk, output } = await run(cluster.programs.pgCtl, args, cluster.user);
  for (let waited = 0; isOk && waited < STOP_TIMEOUT_MS; waited += POLL_INTERVAL_MS) {
    if (await hasEnded()) return;
    await sleep(POLL_INTERVAL_MS);
  }
  if (await hasEnded()) return;
  throw await programFailure(cluster, `PostgreSQL did not stop. Its log is ${cluster.log}.`, output);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
