import { createInterface } from 'node:readline';
import { provideModules, readBundle } from './bundle/bundle.mjs';

/**
 * Runs CLI commands one after the other in one process, because loading the program takes most of the time of each
 * command. Reads the arguments and additional environment variables of each command as a line of JSON, and responds with its
 * output and exit code. The request `"describe"` returns the descriptions of all commands.
 */
const [bundle] = process.argv.splice(2);
const read = provideModules(readBundle(bundle));
const { CommandFactory } = read('nest-commander');
const { Commander } = read('nest-commander/src/constants.js');
const { CliModule, commandsFor } = read('src/cli/cli.module.js');
const { COMMANDS } = read('src/cli/operator-command.js');
const write = process.stdout.write.bind(process.stdout);
const ENVIRONMENT = { ...process.env };
const providers = await Promise.all(Object.keys(COMMANDS).map((name) => commandsFor([name])));
const program = CliModule.register([...new Set(providers.flat())]);
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
  process.argv.splice(2, Infinity, ...parameters);
  process.exitCode = undefined;
  await CommandFactory.run(program, { logger: false });
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  return { code, ...written };
}

async function describeAll() {
  const app = await CommandFactory.createWithoutRunning(program, { logger: false });
  await app.init();
  const response = describe(app.get(Commander, { strict: false }));
  await app.close();
  return response;
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
