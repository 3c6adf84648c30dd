#!/usr/bin/env node
/*
 * Runs an operator command with the programs that were built. It never builds: the service may be running with the same files.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../', import.meta.url);
const PROGRAM = new URL('dist/src/cli/main.js', ROOT);

if (!existsSync(PROGRAM)) fail('is not built. Run "npm ci" and "npm run build" in this folder.');
if (!existsSync(new URL('node_modules', ROOT))) fail('has no packages. Run "npm ci" in this folder.');
// A deployed copy has no sources.
if (existsSync(new URL('src', ROOT))) {
  const { isBuilt } = await import('../scripts/build-stamp.mjs');
  if (!isBuilt())
    say('was changed after it was built. Run "npm run build" in this folder to use the changes.');
}
await import(PROGRAM.href);

function say(problem) {
  process.stderr.write(`${fileURLToPath(ROOT)} ${problem}\n`);
}

function fail(problem) {
  say(problem);
  process.exit(1);
}
