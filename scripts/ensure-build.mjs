/*
 * Builds the project unless `dist` was built from the current sources. Preloaded by `node --import`, so that building
 * and running share one process: signals reach it without a shell in between.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hashOfFiles, sourcesIn } from './hash-of-files.mjs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`This service needs Node.js 20.19 or later. This is Node.js ${process.versions.node}.`);
  process.exit(1);
}

const STAMP = 'dist/.built-from';
const FILES = [
  '.swcrc',
  'nest-cli.json',
  'ormconfig.ts',
  'package-lock.json',
  'tsconfig.build.json',
  'tsconfig.json',
];

// A deployed copy has no sources.
if (existsSync('src')) await ensureBuild();

async function ensureBuild() {
  const hash = hashOfFiles([...FILES, ...sourcesIn('src')]);
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return;
  // Standard output belongs to the program that follows.
  process.stderr.write('Building…\n');
  const build = spawn(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'build'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = (signal) => build.kill(signal);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [code] = await once(build, 'exit');
  if (code !== 0) process.exit(code ?? 1);
  process.off('SIGINT', stop).off('SIGTERM', stop);
  writeFileSync(STAMP, hash);
}
