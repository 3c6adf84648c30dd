import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Bytes that the check writes. */
const SAMPLE = Buffer.alloc(64 * 1024);
/** Bytes that a full buffer of request log entries takes, with room for emails. */
const MIN_FREE = 64 * 1024 * 1024;
/** The folders that processes write to. Another user may have created them. */
const FOLDERS = ['request-log', 'mail', 'messages'];

const MORE_SPACE = 'Free some space, or set DATA_DIR to a directory on another disk.';

/** Why files cannot be written, or soon cannot. */
interface DataDirectoryProblem {
  /** A full disk may be cleaned up while the service runs. Everything else needs another setting or other rights. */
  readonly isSpace: boolean;
  readonly isUsable: boolean;
  readonly finding: string;
  readonly remedy: string;
}

/** Creates the directory if it does not exist, writes a file and removes it. Returns undefined if there is no problem. */
export async function checkDataDirectory(directory: string): Promise<DataDirectoryProblem | undefined> {
  const path = resolve(directory);
  const sample = join(path, `.check-${randomUUID()}`);
  try {
    await create(path);
    await writeFile(sample, SAMPLE, { mode: 0o600 });
    for (const folder of FOLDERS) {
      await access(join(path, folder), constants.W_OK).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    }
    const free = await freeBytes(path);
    if (free === undefined || free >= MIN_FREE) return undefined;
    const finding = `DATA_DIR=${path} has less than 64 MB of free space.`;
    return { isSpace: true, isUsable: true, finding, remedy: MORE_SPACE };
  } catch (error) {
    return dataDirectoryProblem(error, path);
  } finally {
    await rm(sample, { force: true }).catch(() => undefined);
  }
}

/** Creates the directory and those above it. With `recursive`, Node.js would try forever where the system refuses, as in /proc. */
async function create(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const exists = async (directory: string): Promise<boolean> =>
      stat(directory).then(
        (found) => found.isDirectory(),
        () => false,
      );
    if (code === 'ENOENT' && !(await exists(dirname(path)))) {
      await create(dirname(path));
      return create(path);
    }
    if (code !== 'EEXIST' || !(await exists(path))) throw error;
  }
}

/** Explains an error of the file system. */
export function dataDirectoryProblem(error: unknown, path: string): DataDirectoryProblem {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? { isSpace: true, isUsable: false, finding: `DATA_DIR=${path} has no free space.`, remedy: MORE_SPACE }
    : {
        isSpace: false,
        isUsable: false,
        finding: `DATA_DIR=${path} cannot be used (${message}).`,
        remedy: 'Set DATA_DIR to a directory that this user can create and write to.',
      };
}

/** Returns undefined if the file system does not know, or the directory does not exist. */
export async function freeBytes(directory: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(directory).catch(() => ({ blocks: 0, bavail: 0, bsize: 0 }));
  return blocks === 0 ? undefined : bavail * bsize;
}
