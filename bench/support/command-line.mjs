import { spawn } from 'node:child_process';
import { once } from 'node:events';

const MCS = new URL('../../clients/cli/bin/mcs.js', import.meta.url).pathname;

/** Starts `mcs --json` and collects the results that it prints. */
export function startCommand(words, environment) {
  const child = spawn(process.execPath, [MCS, ...words, '--json'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const command = {
    results: [],
    /** The output for the user. */
    progress: '',
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    command.results.push(...lines.map((line) => JSON.parse(line)));
  });
  child.stderr.setEncoding('utf8').on('data', (text) => (command.progress += text));
  return command;
}
