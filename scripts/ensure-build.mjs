/*
 * Builds the project unless `dist` was built from the current sources. Preloaded by `node --import`, so that building
 * and running share one process: signals reach it without a shell in between.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hashOfSources, isBuilt, writeStamp } from './build-stamp.mjs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`This service needs Node.js 20.19 or later. This is Node.js ${process.versions.node}.`);
  process.exit(1);
}

// A deployed copy has no sources.
if (existsSync('src')) await ensureBuild();

async function ensureBuild() {
  const hash = hashOfSources();
  if (isBuilt(hash)) return;
  // Standard output belongs to the program that follows.
  process.stderr.write('Building…\n');
  // In another process, because the compiler would stay in the memory of the program.
  const build = spawn(process.execPath, [join(import.meta.dirname, 'compile.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = (signal) => build.kill(signal);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [code] = await once(build, 'exit');
  if (code !== 0) process.exit(code ?? 1);
  process.off('SIGINT', stop).off('SIGTERM', stop);
  writeStamp(hash);
}
