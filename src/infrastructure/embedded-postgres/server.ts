import { spawn } from 'node:child_process';
import { open, readFile, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { lastLines, programFailure } from './failures.js';
import { readIfThere } from './files.js';
import type { Place } from './place.js';
import { run, SURROUNDINGS } from './processes.js';

const LOG_LIMIT = 10 * 2 ** 20;
const STOP_SECONDS = 60;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The server's own affairs, but no failed statements: those hold values of rows, and the application
  // reports its errors itself.
  log_min_messages: 'log',
};

/** Causes that pass: a rival took the port or was faster, or a killed server's children have not yet gone. */
const PASSING = /could not bind|lock file "postmaster.pid" already exists|pre-existing shared memory block/;

/** What a running server, or one that died without cleaning up, says of itself in `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

export async function readPostmaster({ directory }: Place): Promise<Postmaster | undefined> {
  const lines = (await readIfThere(join(directory, 'postmaster.pid')))?.split('\n') ?? [];
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  // Line by line it comes into being; and a negative pid is a server in single-user mode, no business of ours.
  return pid > 0 && port > 0 ? { pid, port, ready: lines[7]?.trim() === 'ready' } : undefined;
}

/**
 * Starts the server and waits until it accepts connections; false when it is worth another try.
 *
 * It is started without pg_ctl, whose `start` hands paths and options to a shell, and which leaves no way to
 * say what we know about `stale`: PostgreSQL refuses to start while a process has the pid that a dead server
 * left behind, unless that pid is its grandparent's. After a reboot it is often the pid of someone else.
 * PostgreSQL still makes sure by the shared memory that no part of the dead server is left.
 */
export async function launch(
  place: Place,
  settings: Record<string, string>,
  stale: Postmaster | undefined,
  deadline: number,
): Promise<boolean> {
  // The former port first: processes that outlived the former server find the new one there.
  const port = stale?.port ?? (await freePort());
  const options = Object.entries({ ...SETTINGS, ...settings, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);

  const logged = await stat(place.log).catch(() => undefined);
  const log = await open(place.log, logged && logged.size > LOG_LIMIT ? 'w' : 'a', 0o600);
  // Whoever owns the cluster may some day start it without being root.
  if (place.user) await log.chown(place.user.uid, place.user.gid);
  const { size: logStart } = await log.stat();
  let problem: string | undefined;
  // Detached, because Ctrl+C in a terminal reaches the whole process group, and the server goes last.
  const server = spawn(place.programs.postgres, ['-D', place.directory, ...options], {
    ...SURROUNDINGS,
    env: { ...SURROUNDINGS.env, ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
    ...place.user,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
    .once('error', (error) => (problem = error.message))
    .once('exit', (_code, signal) => (problem = signal ? `It was ended by ${signal}.\n` : ''));
  server.unref();
  await log.close();

  while (problem === undefined) {
    const postmaster = await readPostmaster(place);
    if (postmaster?.ready && postmaster.pid === server.pid) return true;
    if (performance.now() > deadline) throw await tooLate(place);
    await sleep(20);
  }
  problem += (await readFile(place.log)).subarray(logStart).toString();
  if (PASSING.test(problem)) return false;
  throw await programFailure(
    place,
    `PostgreSQL in ${place.directory} did not start; its log is ${place.log}.`,
    problem,
  );
}

/** Stops the server, however many sessions it has, and waits until it is gone. */
export async function stop(place: Place): Promise<void> {
  const args = ['stop', '-D', place.directory, '-m', 'fast', '-w', '-t', String(STOP_SECONDS)];
  const { ok, output } = await run(place.programs.pgCtl, args, place.user);
  if (ok || !(await readPostmaster(place))) return;
  throw await programFailure(
    place,
    `PostgreSQL in ${place.directory} did not stop within ${STOP_SECONDS} s; its log is ${place.log}.`,
    output,
  );
}

export async function tooLate({ directory, log }: Place, reason = ''): Promise<EmbeddedPostgresError> {
  const words = lastLines((await readIfThere(log)) ?? '');
  return new EmbeddedPostgresError(
    `PostgreSQL in ${directory} started, but does not become ready; its log is ${log}.`,
    { details: `${reason}\n${words}`.trim() },
  );
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
