import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { Program, run, type Ended } from './program.js';
import { rememberSecret } from './run-directory.js';
import { startTestApp, type TestApp } from './test-app.js';

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

/** Runs CLI commands in one environment. Words in single quotes are one argument. */
export class Commands {
  private readonly session: Program;
  private requests = 0;
  private readonly responses: string[] = [];
  /** How many characters of the output `responses` contains. */
  private read = 0;

  constructor(private readonly environment: Readonly<Record<string, string>>) {
    const { TEST_BUNDLE: bundle = '' } = process.env;
    this.session = new Program(SESSION, { arguments: [bundle], environment, inputStaysOpen: true });
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

  /** Runs commands without input in one shared process, which takes a third of the time. */
  run(command: string, input?: string): Promise<Ended> {
    return input === undefined ? this.runWith({}, command) : this.inOwnProcess(command, input);
  }

  /** Runs a command in the shared process, with environment variables in addition to the usual ones. */
  runWith(environment: Readonly<Record<string, string>>, command: string): Promise<Ended> {
    return this.inSession({ parameters: words(command), environment });
  }

  /** Describes all commands, as subcommands of one root. */
  describe(): Promise<DescribedCommand> {
    return this.inSession('describe');
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

  /** Sends a request to the shared process, which responds in order. */
  private async inSession<Response>(request: unknown): Promise<Response> {
    const index = this.requests;
    this.requests += 1;
    this.session.write(`${JSON.stringify(request)}\n`);
    const find = (): string | false => this.responsesSoFar()[index] ?? false;
    const what = `a response to ${JSON.stringify(request)}`;
    return JSON.parse(await eventually(what, find, COMMAND_TIMEOUT)) as Response;
  }

  /** Searches only what is new: exports have megabytes. */
  private responsesSoFar(): readonly string[] {
    const { output } = this.session;
    for (let end = output.indexOf('\n', this.read); end >= 0; end = output.indexOf('\n', this.read)) {
      this.responses.push(output.slice(this.read, end));
      this.read = end + 1;
    }
    return this.responses;
  }
}

/** Starts the service, and runs commands with its database and keys. */
export async function startTestAppWithCommands(
  environment: Record<string, string> = {},
  options: { readonly backgroundWork?: boolean } = {},
): Promise<{ service: TestApp; commands: Commands }> {
  const keys = {
    SECRET_PEPPER: randomBytes(32).toString('base64'),
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  rememberSecret(...Object.values(keys));
  const service = await startTestApp({ ...keys, ...environment }, options);
  const { database, dataDirectory } = service;
  const commands = new Commands({ ...keys, DATABASE_URL: database.url, DATA_DIR: dataDirectory });
  return { service, commands };
}

function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}
