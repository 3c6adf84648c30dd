import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createDataDirectory } from '../config/index.js';

const KEY_BYTES = 32;

/**
 * Returns the key in the file: 32 bytes in base64. If the file does not exist, creates it with a random key, readable
 * only by its owner. If several processes create it at the same time, all of them return the same key.
 */
export function readOrCreateKey(file: string): string {
  createDataDirectory(dirname(file));
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600 });
  try {
    // Unlike writing the file, linking is atomic: no process reads half a key.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
}
