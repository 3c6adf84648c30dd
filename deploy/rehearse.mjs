#!/usr/bin/env node
/**
 * Executes the Dockerfile without Docker: every COPY and RUN in separate folders, then the image's command in
 * production mode, its health check, and its shutdown on SIGTERM. It cannot test the base image and its user, the
 * isolation, or the layers.
 *
 *   DATABASE_URL=postgres://… node deploy/rehearse.mjs
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const CONTEXT = resolve(import.meta.dirname, '..');
const PORT = 3999;
const TIMEOUT = 30_000;

if (!process.env.DATABASE_URL)
  throw new Error('Set DATABASE_URL to a PostgreSQL database that may be migrated.');

const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
const stages = new Map();
let stage;

for (const [instruction, rest] of instructions(readFileSync(join(CONTEXT, 'Dockerfile'), 'utf8'))) {
  switch (instruction) {
    case 'FROM': {
      const name = /\bAS (\S+)$/.exec(rest)?.[1] ?? 'final';
      stage = { root: join(folder, name), directory: '/', env: {}, json: {} };
      stages.set(name, stage);
      break;
    }
    case 'WORKDIR':
      stage.directory = rest;
      mkdirSync(join(stage.root, rest), { recursive: true });
      break;
    case 'ENV':
      for (const [, key, value] of rest.matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value;
      break;
    case 'COPY':
      copy(rest);
      break;
    case 'RUN':
      // File owners exist only in the image.
      if (rest.startsWith('install -d -o')) break;
      say(`RUN ${rest}`);
      execFileSync('sh', ['-c', rest], { cwd: here(), env: environment(stage.env), stdio: 'inherit' });
      break;
    case 'CMD':
      stage.command = JSON.parse(rest);
      break;
    case 'HEALTHCHECK':
      stage.check = JSON.parse(/\bCMD (\[.*\])$/.exec(rest)[1]);
      break;
    default:
  }
}
await start();
rmSync(folder, { recursive: true, force: true });

/** Starts the programs of the last stage, checks the health of the service, and stops them. */
async function start() {
  say(
    `Size of the image's files: ${execFileSync('du', ['-sh', here()], { encoding: 'utf8' }).split('\t')[0]}`,
  );
  const key = () => randomBytes(32).toString('base64');
  const env = environment({
    ...stage.env,
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: process.env.DATABASE_URL,
    SECRET_PEPPER: key(),
    KEY_ENCRYPTION_KEY: key(),
    DASHBOARD_URL: 'https://dashboard.example.com',
    PLATFORM_URL: 'https://api.example.com',
    MIGRATE_ON_START: 'off',
    HOST: '127.0.0.1',
    PORT: String(PORT),
  });
  run(['node', 'dist/src/cli/main.js', 'migrate'], env);
  for (const command of [stage.command, ['node', 'dist/src/worker.js']]) {
    say(command.join(' '));
    const child = spawn(command[0], command.slice(1), { cwd: here(), env, stdio: 'inherit' });
    const ended = once(child, 'exit');
    if (command === stage.command) {
      await healthy(env);
      await documented();
    } else await pause(5_000);
    if (child.exitCode !== null)
      throw new Error(`The process exited unexpectedly with code ${child.exitCode}`);
    child.kill('SIGTERM');
    const [code] = await ended;
    if (code !== 0) throw new Error(`The process exited with code ${code} after SIGTERM`);
  }
  say('The image starts, becomes healthy, and stops.');
}

async function healthy(env) {
  const deadline = performance.now() + TIMEOUT;
  for (;;) {
    try {
      run(stage.check, env);
      say('healthy');
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(500);
    }
  }
}

/** Checks that the image contains the files of the documentation site. */
async function documented() {
  for (const path of [
    '/docs',
    '/docs/errors',
    '/docs/receivers',
    '/docs/changelog',
    '/docs/assets/search.json',
  ]) {
    const { status } = await fetch(`http://127.0.0.1:${PORT}${path}`);
    if (status !== 200) throw new Error(`${path} responds with ${status}`);
  }
  say('documented');
}

function run([program, ...values], env) {
  execFileSync(program, values, { cwd: here(), env, stdio: ['ignore', 'inherit', 'inherit'] });
}

function copy(rest) {
  const from = /^--from=(\S+) /.exec(rest)?.[1];
  const paths = rest.replace(/^--from=\S+ /, '').split(' ');
  const target = paths.pop();
  for (const path of paths) {
    const source = from ? join(stages.get(from).root, path) : join(CONTEXT, path);
    const isInto = target.endsWith('/') || target === '.';
    const name = isInto && !statSync(source).isDirectory() ? join(target, basename(path)) : target;
    cpSync(source, resolve(here(), name), { recursive: true, verbatimSymlinks: true });
  }
}

function here() {
  return join(stage.root, stage.directory);
}

/** Passes on only the variables that are needed to find programs and to download packages. */
function environment(more) {
  const { PATH, HOME } = process.env;
  const registry = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_|https?_proxy|no_proxy|node_extra)/i.test(name),
  );
  return { PATH, HOME, ...Object.fromEntries(registry), ...more };
}

function* instructions(text) {
  const lines = text.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  for (const line of lines.split('\n')) {
    const [, instruction, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (instruction) yield [instruction, rest];
  }
}

function say(sentence) {
  process.stdout.write(`── ${sentence}\n`);
}
