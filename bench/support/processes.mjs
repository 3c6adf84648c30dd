import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts a Node.js program and waits until it says the word on its standard output.
 *
 * @param said hears all that it says, errors too; without it errors are seen
 */
export async function start(program, { environment, ready, said }) {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', said ? 'pipe' : 'inherit'],
  });
  if (said) for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', said);
  await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (chunk) => {
      if (said === undefined) return;
      said += chunk;
      if (said.includes(ready)) {
        said = undefined;
        resolve();
      }
    });
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${said}`)));
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
