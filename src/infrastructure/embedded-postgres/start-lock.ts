import { rm, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './processes.js';

const HEARTBEAT_MS = 1_000;
const ABANDONED_AFTER_MS = 5_000;

/**
 * Waits for its turn among the processes that want to start the same server, and returns how to end the turn.
 *
 * The lock is a file with the holder's pid. It is void when that process is dead, or when its time stamp,
 * which the holder keeps moving, stands still: after a reboot the pid may belong to somebody else, and in a
 * container, where pids repeat, it may even be our own. Should two processes hold it by some misfortune, the
 * data stays whole: a cluster appears by an atomic rename, and PostgreSQL lets one server into a directory.
 */
export async function takeStartLock(path: string): Promise<() => Promise<void>> {
  let seen = '';
  let seenAt = 0;
  for (;;) {
    if (await create(path)) return hold(path);

    const [holder, state] = await Promise.all([readFile(path, 'utf8'), stat(path)]).catch(() => []);
    const sight = `${holder} ${state?.mtimeMs}`;
    if (sight !== seen) [seen, seenAt] = [sight, performance.now()];
    const dead = Number(holder) > 0 && !isAlive(Number(holder));
    if (dead || performance.now() - seenAt > ABANDONED_AFTER_MS) await rm(path, { force: true });
    else await sleep(50);
  }
}

async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    await rm(path, { force: true }); // on a full disk it was created and stayed empty
    throw error;
  }
}

function hold(path: string): () => Promise<void> {
  let beat = 0;
  // Any stamp will do as long as it differs from the last one.
  const heart = setInterval(() => void utimes(path, ++beat, beat).catch(() => undefined), HEARTBEAT_MS);
  heart.unref();
  return async () => {
    clearInterval(heart);
    await rm(path, { force: true });
  };
}
