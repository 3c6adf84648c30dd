import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './processes.mjs';

const PROGRAM = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
  .map((place) => join(place, 'redis-server'))
  .find((file) => existsSync(file));

/** Starts a local Redis without persistence; returns undefined if Redis is not installed. */
export async function startRedis() {
  if (PROGRAM === undefined) return undefined;
  const port = await freePort();
  const launch = async () => {
    const options = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
    const child = spawn(PROGRAM, options, { stdio: 'ignore' });
    while (!(await accepts(port))) await pause(20);
    return child;
  };
  let child = await launch();
  const stop = async (signal) => {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Stops Redis and, after this many milliseconds, starts an empty one. */
    async restart(milliseconds) {
      await stop('SIGTERM');
      await pause(milliseconds);
      child = await launch();
    },
    stop: () => stop('SIGKILL'),
  };
}

async function accepts(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
