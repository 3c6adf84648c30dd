import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Stops the server like `pg_ctl stop -m fast`, does the work, and starts the server again with the same options. */
export async function restartPostgres(directory, whileDown = async () => undefined) {
  const postmaster = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const [program, ...options] = [
    ...readFileSync(join(directory, 'postmaster.opts'), 'utf8').matchAll(/"([^"]*)"|(\S+)/g),
  ].map(([, quoted, bare]) => quoted ?? bare);
  process.kill(postmaster, 'SIGINT');
  while (isAlive(postmaster)) await pause(50);
  await whileDown();
  const { uid, gid } = statSync(directory);
  const server = spawn(program, options, { uid, gid, detached: true, stdio: 'ignore' });
  server.unref();
  await once(server, 'spawn');
}

/** Pauses the server and all its processes, as a machine that is suspended, while the work runs. */
export async function pausePostgres(directory, work) {
  const postmaster = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
  // The postmaster first, so that it starts no process that would be missed.
  process.kill(postmaster, 'SIGSTOP');
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ');
  const all = [postmaster, ...children.filter(Boolean).map(Number)];
  const signal = (name) => {
    for (const pid of all) if (isAlive(pid)) process.kill(pid, name);
  };
  signal('SIGSTOP');
  try {
    await work();
  } finally {
    signal('SIGCONT');
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Returns the folder of a PostgreSQL with pg_dump, which the embedded one lacks. */
export function postgresPrograms() {
  const parent = '/usr/lib/postgresql';
  const debian = existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name, 'bin')) : [];
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const found = [...debian.toSorted().toReversed(), stdout?.trim() ?? ''].find((path) =>
    ['initdb', 'postgres', 'pg_dump'].every((name) => existsSync(join(path, name))),
  );
  if (!found)
    throw new Error('Install PostgreSQL with its server and pg_dump, such as the package postgresql.');
  return found;
}
