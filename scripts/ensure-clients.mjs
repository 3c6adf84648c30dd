/*
 * Builds the packages in `clients` unless they were built from the current sources. `npm pack`, the tests, and `npx mcs` in
 * this repository run it. The service does not need them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hashOfFiles, sourcesIn } from './hash-of-files.mjs';

const ROOT = join(import.meta.dirname, '..');
const SDK = join(ROOT, 'clients/typescript');
const CLI = join(ROOT, 'clients/cli');
const STAMP = join(CLI, 'dist/.built-from');

const hash = hashOfFiles([
  join(ROOT, 'package-lock.json'),
  ...[SDK, CLI].flatMap((folder) => [
    join(folder, 'package.json'),
    join(folder, 'tsconfig.json'),
    ...sourcesIn(join(folder, 'src')),
  ]),
]);
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== hash) await build();

async function build() {
  // Standard output belongs to the program that follows.
  process.stderr.write('Building the clients…\n');
  for (const folder of [SDK, CLI]) rmSync(join(folder, 'dist'), { recursive: true, force: true });
  compile(['--outDir', join(SDK, 'dist/esm')]);
  compile(['--module', 'CommonJS', '--outDir', join(SDK, 'dist/cjs')]);
  writeFileSync(join(SDK, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');

  const { build: bundle } = await import('esbuild');
  await bundle({
    entryPoints: [join(CLI, 'src/main.ts')],
    outfile: join(CLI, 'dist/mcs.cjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'warning',
  });
  writeFileSync(STAMP, hash);
}

function compile(options) {
  const tsc = join(ROOT, 'node_modules/@typescript/native/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', relative(process.cwd(), SDK) || '.', ...options], {
      stdio: ['ignore', 2, 2],
    });
  } catch {
    process.exit(1);
  }
}
