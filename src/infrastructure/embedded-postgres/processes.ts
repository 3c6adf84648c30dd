import { execFile } from 'node:child_process';

/** The user and group that a program runs as; ours when left out. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * What every program of ours is started with. Nothing of our own environment: PGDATA, PGPORT and their like
 * would redirect PostgreSQL, and secrets are none of its business. LC_ALL=C because we read its messages; TZ
 * spares initdb the search for the system's time zone; the root directory because every user can enter it.
 * (On Windows, Node adds the variables without which nothing runs there, such as SystemRoot.)
 */
export const SURROUNDINGS = {
  cwd: '/',
  env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
  windowsHide: true,
};

interface Outcome {
  readonly ok: boolean;
  /** What the program said; when it could not be started, why. */
  readonly output: string;
}

/** Runs a program to its end. A failure is an answer here, not an exception. */
export function run(program: string, args: readonly string[], user?: User): Promise<Outcome> {
  return new Promise((resolve) => {
    try {
      execFile(program, args, { ...SURROUNDINGS, ...user }, (error, stdout, stderr) => {
        resolve({ ok: error === null, output: (stderr || stdout || (error?.message ?? '')).trim() });
      });
    } catch (error) {
      // Not every failure to start reaches the callback: a forbidden change of user is thrown.
      resolve({ ok: false, output: String(error) });
    }
  });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM says that it lives and belongs to someone else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
