import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOfFiles, sourcesIn } from './hash-of-files.mjs';

const ROOT = join(import.meta.dirname, '..');
const STAMP = join(ROOT, 'dist/.built-from');
const FILES = ['.swcrc', 'nest-cli.json', 'ormconfig.ts', 'package-lock.json', 'scripts/compile.mjs'];

/** Returns a hash of everything that is built into `dist`. */
export function hashOfSources() {
  return hashOfFiles([...FILES.map((file) => join(ROOT, file)), ...sourcesIn(join(ROOT, 'src'))]);
}

/** Returns whether `dist` was built from the current sources. */
export function isBuilt(hash = hashOfSources()) {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash;
}

/** Records what `dist` was built from. */
export function writeStamp(hash) {
  writeFileSync(STAMP, hash);
}
