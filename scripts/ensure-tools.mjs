/*
 * Installs the packages in `test/tools` unless they are those of its lock file. They have a lock file of their own, so that neither
 * `npm start` nor `npm test` waits for what only checks, generators, benchmarks and tests of programs use. Programs that use one
 * import this, or `node --import` preloads it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const TOOLS = join(import.meta.dirname, '../test/tools');

if (!areInstalled()) {
  // Standard output belongs to the program that follows.
  process.stderr.write('Installing the tools…\n');
  execFileSync('npm', ['ci', '--prefix', TOOLS, '--no-audit', '--no-fund', '--silent'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Loads a package of `test/tools`. */
export const requireTool = createRequire(join(TOOLS, 'package.json'));

/** Packages for other systems are optional. */
function areInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json');
  return Object.entries(packagesOf('package-lock.json')).every(
    ([folder, { version, optional }]) => folder === '' || optional || installed[folder]?.version === version,
  );
}

function packagesOf(lock) {
  try {
    return JSON.parse(readFileSync(join(TOOLS, lock), 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}
