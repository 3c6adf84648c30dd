import { createInterface } from 'node:readline';
import { provideModules, readBundle } from './bundle/bundle.mjs';

/**
 * Runs CLI commands one after the other in one process, because loading the program takes most of the time of each
 * command. Reads the arguments and additional environment variables of each command as a line of JSON, and responds with its
 * output and exit code. The request `"describe"` returns the descriptions of all commands.
 */
const [bundle] = process.argv.splice(2);
const read = provideModules(readBundle(bundle));
const { programFor } = read('src/cli/program.js');
const { COMMANDS } = read('src/cli/operator-command.js');
const write = process.stdout.write.bind(process.stdout);
const ENVIRONMENT = { ...process.env };
let written;
for (const [stream, name] of [
  [process.stdout, 'output'],
  [process.stderr, 'errors'],
]) {
  stream.write = (text, ...rest) => {
    written[name] += text;
    rest.findLast((each) => typeof each === 'function')?.();
    return true;
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const response = request === 'describe' ? await describeAll() : await run(request);
  write(`${JSON.stringify(response)}\n`);
}

async function run({ parameters, environment }) {
  process.env = { ...ENVIRONMENT, ...environment };
  written = { output: '', errors: '' };
  process.exitCode = undefined;
  await (await programFor(parameters)).parseAsync(parameters, { from: 'user' });
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  return { code, ...written };
}

async function describeAll() {
  const [first, ...others] = await Promise.all(Object.keys(COMMANDS).map((name) => programFor([name])));
  for (const { commands } of others) first.addCommand(commands[0]);
  return describe(first);
}

function describe(command) {
  return {
    name: command.name(),
    description: command.description(),
    options: command.options.map(({ flags, description }) => ({ flags, description })),
    help: command.helpInformation(),
    commands: command.commands.map(describe),
  };
}
