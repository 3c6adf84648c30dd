import { randomBytes, randomUUID } from 'node:crypto';
import { constants, copyFileSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const KEY_BYTES = 32;

/**
 * Returns the key in the file: 32 bytes in base64. If the file does not exist, creates it with a random key, readable
 * only by its owner. If several processes create it at the same time, all of them return the same key.
 */
export function readOrCreateKey(file: string, link = linkSync): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Processes of several containers can have the same ID.
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600 });
  try {
    // Unlike writing the file, linking is atomic: no process reads half a key.
    link(draft, file);
  } catch (error) {
    // Shares of Windows, shared folders of virtual machines and exFAT have no links.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') copyOnce(draft, file);
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
}

function copyOnce(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
