import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import type { Place } from './place.js';

/** Less than a new cluster (39 MB) and one more segment of its log (16 MB) need. */
const TOO_LITTLE_SPACE = 56 * 2 ** 20;

/** Explains why one of PostgreSQL's programs failed, from what it said. */
export async function programFailure(
  { directory, programs }: Place,
  problem: string,
  output: string,
): Promise<EmbeddedPostgresError> {
  const details = lastLines(output);
  if (saysDiskFull(output) || (await isDiskFull(directory))) return diskFull(directory, { details });
  const remedy = /shared librar|Library not loaded|ENOENT|ENOEXEC|EACCES/.test(output)
    ? `Run "npm rebuild ${programs.packageName}" and see whether ${programs.postgres} runs on this system`
    : undefined;
  return new EmbeddedPostgresError(problem, { remedy, details });
}

/** Turns what the file system refused into a sentence; what is one already passes. */
export function explain(error: unknown, directory: string): Error {
  if (error instanceof EmbeddedPostgresError) return error;
  const { code, message, path = directory } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case '53100': // PostgreSQL's own code for it
      return diskFull(directory, { cause: error });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new EmbeddedPostgresError(
        `The embedded PostgreSQL needs ${path}, which this user may not use (${message}).`,
        { remedy: 'Give this user access to it', cause: error },
      );
    default:
      return new EmbeddedPostgresError(`The embedded PostgreSQL did not start: ${message}.`, {
        cause: error,
      });
  }
}

export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-6).join('\n');
}

function diskFull(directory: string, more: { details?: string; cause?: unknown }): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `There is too little space left on the disk that holds ${dirname(directory)}.`,
    { remedy: 'Free some', ...more },
  );
}

function saysDiskFull(output: string): boolean {
  return /No space left on device|Disk quota exceeded/.test(output);
}

/** The server's log cannot say that the disk is full when it lies on that disk. */
async function isDiskFull(directory: string): Promise<boolean> {
  const disk = await statfs(dirname(directory));
  return disk.bavail * disk.bsize < TOO_LITTLE_SPACE;
}
