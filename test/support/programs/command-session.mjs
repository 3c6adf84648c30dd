import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { compileFunction } from 'node:vm';
import { provideModules, readBundle } from '../runner/bundle/bundle.mjs';

/**
 * Runs commands one after the other in one process, because loading the program takes most of the time of each
 * command: those of the service, if the argument is a bundle, or those of `mcs`, if it is the program. Reads the arguments,
 * additional environment variables and standard input of each command as a line of JSON, and responds with its output and exit code. The request
 * `"describe"` returns the descriptions of all commands of the service.
 */
const [file] = process.argv.splice(2);
const { command, describeAll } = file.endsWith('.cjs') ? commandOfClient(file) : commandsOfService(file);
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

const requests = createInterface({ input: process.stdin });
for await (const line of requests) {
  const request = JSON.parse(line);
  const response = request === 'describe' ? await describeAll() : await run(request);
  write(`${JSON.stringify(response)}\n`);
}

async function run({ parameters, environment, input = '' }) {
  process.env = { ...ENVIRONMENT, ...environment };
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  written = { output: '', errors: '' };
  process.exitCode = undefined;
  await command(parameters);
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  return { code, ...written };
}

function commandsOfService(bundle) {
  const read = provideModules(readBundle(bundle));
  const { programFor } = read('src/cli/program.js');
  const { COMMANDS } = read('src/cli/operator-command.js');
  return {
    async command(parameters) {
      await (await programFor(parameters)).parseAsync(parameters, { from: 'user' });
    },
    async describeAll() {
      const [first, ...others] = await Promise.all(Object.keys(COMMANDS).map((name) => programFor([name])));
      for (const { commands } of others) first.addCommand(commands[0]);
      return describe(first);
    },
  };
}

/** Compiles `mcs` once, and runs its script again for each command, so that no state is kept. */
function commandOfClient(path) {
  const require = createRequire(path);
  const names = ['exports', 'require', 'module'];
  const load = compileFunction(readFileSync(path, 'utf8'), names, { filename: path });
  return {
    async command(parameters) {
      process.argv = [process.execPath, path, ...parameters];
      const module = { exports: {} };
      load(module.exports, require, module);
      await module.exports.ended;
      process.stdout.removeAllListeners('error');
    },
  };
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
