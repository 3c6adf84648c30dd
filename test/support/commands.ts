import { join } from 'node:path';
import { eventually } from './eventually.js';
import { Program, run, type Ended } from './program.js';

const MAIN = 'cli/main.js';
const SESSION = join(import.meta.dirname, 'command-session.mjs');
/** Milliseconds. */
export const COMMAND_PATIENCE = 60_000;

/** What a command says of itself. */
export interface DescribedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flags: string; readonly description: string }[];
  readonly help: string;
  readonly commands: readonly DescribedCommand[];
}

/** The operators' commands in one environment. Words in quotes are one argument. */
export class Commands {
  private readonly session: Program;
  private requests = 0;

  constructor(private readonly environment: Readonly<Record<string, string>>) {
    this.session = new Program(SESSION, { environment, inputStaysOpen: true });
  }

  /** The built program as a process of its own, to its end. */
  inProcess(command: string, input?: string, more: Record<string, string> = {}): Promise<Ended> {
    return run(MAIN, {
      arguments: words(command),
      environment: { ...this.environment, ...more },
      ...(input === undefined ? {} : { input }),
    });
  }

  /** A command that goes on until it is stopped. */
  start(command: string): Program {
    return new Program(MAIN, { arguments: words(command), environment: this.environment });
  }

  /** In one process for many where there is no input: a third of the time. */
  run(command: string, input?: string): Promise<Ended> {
    return input === undefined ? this.inSession(words(command)) : this.inProcess(command, input);
  }

  /** All commands, below one that has no name of its own. */
  describe(): Promise<DescribedCommand> {
    return this.inSession('describe');
  }

  /** Runs a command that succeeds; answers what it printed. */
  async answer<Answer>(command: string, input?: string): Promise<Answer> {
    const { code, output, errors } = await this.run(command, input);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    return JSON.parse(output) as Answer;
  }

  async expectRefusal(command: string, sentence: string, input?: string): Promise<void> {
    expect(await this.run(command, input)).toEqual({ code: 1, output: '', errors: `${sentence}\n` });
  }

  /** What is asked first is answered first. */
  private async inSession<Answer>(request: unknown): Promise<Answer> {
    const place = this.requests;
    this.requests += 1;
    this.session.tell(`${JSON.stringify(request)}\n`);
    const look = (): string | false => this.session.output.split('\n').slice(0, -1)[place] ?? false;
    const what = `${JSON.stringify(request)} is answered`;
    return JSON.parse(await eventually(what, look, COMMAND_PATIENCE)) as Answer;
  }
}

function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}
