import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Returns the source files in a folder, without tests. */
export function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
}

/** Uses contents, because a checkout changes modification times arbitrarily, and paths in the project, which can be copied. */
export function hashOfFiles(files) {
  const hash = createHash('sha256');
  for (const file of files.toSorted())
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}
