import { chmod, mkdir, readFile } from 'node:fs/promises';

/** For `.catch()`: turns the expected error codes into undefined and lets every other error pass. */
export function unless(...codes: string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
    return undefined;
  };
}

export function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(unless('ENOENT', 'ENOTDIR'));
}

/** Makes a folder that every user can enter, which a strict umask would have closed. */
export async function makeOpenFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
}
