import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';

const BUILD = new URL('../../dist', import.meta.url).pathname;
/** Contains the same programs, which start in 1.2 s of CPU time instead of 2.8; see `build-bundle.mjs`. */
const { TEST_BUNDLE = '' } = process.env;

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns the options of Node.js in `npm start` of a checkout. */
export function flagsOf(root) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return scripts.start.match(/--expose-gc|--[\w-]+=\d+/g) ?? [];
}

/**
 * Starts a Node.js program and waits until its standard output contains the text `ready`.
 *
 * @param flags options of Node.js
 * @param onOutput gets all output, including errors; if it is missing, errors go to standard error
 */
export async function start(program, { environment, flags = [], ready, onOutput }) {
  const isOfBuild = TEST_BUNDLE !== '' && program.startsWith(`${BUILD}/`);
  const file = isOfBuild ? join(TEST_BUNDLE, 'dist', relative(BUILD, program)) : program;
  const child = spawn(process.execPath, [...flags, file], {
    env: { PLATFORM_REQUESTS_PER_MINUTE: '100000000', ...process.env, ...environment },
    stdio: ['ignore', 'pipe', onOutput ? 'pipe' : 'inherit'],
  });
  if (onOutput)
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput);
  await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (output === undefined) return;
      output += chunk;
      if (output.includes(ready)) {
        output = undefined;
        resolve();
      }
    });
    child.once('exit', (code) => reject(new Error(`${program} exited with ${code}: ${output}`)));
  });
  const ended = once(child, 'exit');
  return {
    pid: child.pid,
    ended,
    kill: (signal) => child.kill(signal),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
