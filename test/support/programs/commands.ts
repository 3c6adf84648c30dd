import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { Program, run, type Ended, type ProgramOptions } from './program.js';
import { newKeys, startTestApp, type TestApp } from '../test-app.js';

const MAIN = 'cli/main.js';
const SESSION = join(import.meta.dirname, 'command-session.mjs');
export const COMMAND_TIMEOUT = 60_000;

export interface DescribedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flags: string; readonly description: string }[];
  readonly help: string;
  readonly commands: readonly DescribedCommand[];
}

/** Runs commands in one shared process, which takes a third of the time or less. */
export class CommandSession {
  private readonly program: Program;
  private requests = 0;
  private readonly responses: string[] = [];
  /** How many characters of the output `responses` contains. */
  private read = 0;

  /** @param file the bundle of the service, or the script of `mcs` */
  constructor(file: string, options: Pick<ProgramOptions, 'environment' | 'folder'> = {}) {
    this.program = new Program(SESSION, { ...options, arguments: [file], inputStaysOpen: true });
  }

  /** Runs a command, with environment variables in addition to those of the process. `mcs` gets no input. */
  run(
    parameters: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    input?: string,
  ): Promise<Ended> {
    return this.request({ parameters, environment, input });
  }

  /** Sends a request to the process, which responds in order. */
  async request<Response>(request: unknown): Promise<Response> {
    const index = this.requests;
    this.requests += 1;
    this.program.write(`${JSON.stringify(request)}\n`);
    const find = (): string | false => this.responsesSoFar()[index] ?? false;
    const what = `a response to ${JSON.stringify(request)}`;
    const fail = ({ errors }: Ended): never => {
      throw new Error(`The process ended without ${what}: ${errors}`);
    };
    const response = eventually(what, find, COMMAND_TIMEOUT);
    return JSON.parse(await Promise.race([response, this.program.ended.then(fail)])) as Response;
  }

  /** Searches only what is new: exports have megabytes. */
  private responsesSoFar(): readonly string[] {
    const { output } = this.program;
    for (let end = output.indexOf('\n', this.read); end >= 0; end = output.indexOf('\n', this.read)) {
      this.responses.push(output.slice(this.read, end));
      this.read = end + 1;
    }
    return this.responses;
  }
}

/** Runs CLI commands in one environment. Words in single quotes are one argument. */
export class Commands {
  private readonly session: CommandSession;

  constructor(private readonly environment: Readonly<Record<string, string>>) {
    this.session = new CommandSession(process.env.TEST_BUNDLE ?? '', { environment });
  }

  /** Runs the program in a process of its own until it ends. */
  inOwnProcess(command: string, input?: string, more: Record<string, string> = {}): Promise<Ended> {
    return run(MAIN, {
      arguments: words(command),
      environment: { ...this.environment, ...more },
      ...(input === undefined ? {} : { input }),
    });
  }

  /** Starts a command that runs until it is stopped. */
  start(command: string): Program {
    return new Program(MAIN, { arguments: words(command), environment: this.environment });
  }

  /** Runs a command in the shared process. */
  run(command: string, input?: string): Promise<Ended> {
    return this.session.run(words(command), {}, input);
  }

  /** Runs a command in the shared process, with environment variables in addition to the usual ones. */
  runWith(environment: Readonly<Record<string, string>>, command: string): Promise<Ended> {
    return this.session.run(words(command), environment);
  }

  /** Describes all commands, as subcommands of one root. */
  describe(): Promise<DescribedCommand> {
    return this.session.request('describe');
  }

  /** Runs a command that must succeed, and returns the JSON that it printed. */
  async result<Result>(command: string, input?: string): Promise<Result> {
    const { code, output, errors } = await this.run(command, input);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    return JSON.parse(output) as Result;
  }

  async expectError(command: string, sentence: string, input?: string): Promise<void> {
    expect(await this.run(command, input)).toEqual({ code: 1, output: '', errors: `${sentence}\n` });
  }
}

/** Starts the service, and runs commands with its database and keys. */
export async function startTestAppWithCommands(
  environment: Record<string, string> = {},
  options: { readonly backgroundWork?: boolean } = {},
): Promise<{ service: TestApp; commands: Commands }> {
  const keys = newKeys();
  const service = await startTestApp({ ...keys, ...environment }, options);
  const { database, dataDirectory } = service;
  const commands = new Commands({ ...keys, DATABASE_URL: database.url, DATA_DIR: dataDirectory });
  return { service, commands };
}

function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}
