import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../eventually.js';

const PROGRAMS = join(process.env.TEST_BUNDLE ?? '', 'dist', 'src');
/** Milliseconds. Starting takes two seconds, and longer on a busy machine. */
const TIMEOUT = 30_000;
const LOGS = join(process.env.TEST_RUN_DIRECTORY ?? '', 'logs', `${process.pid}.programs.log`);

export interface ProgramOptions {
  readonly arguments?: readonly string[];
  /** Environment variables in addition to PATH and HOME. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard input, which is closed afterwards unless `inputStaysOpen`. */
  readonly input?: string;
  readonly inputStaysOpen?: boolean;
  /** Node.js, if not the one that runs the tests. */
  readonly node?: string;
  /** The working directory, if not that of the tests. */
  readonly folder?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a program of the bundle, or another one, in its own process. */
export class Program {
  private static readonly running = new Set<Program>();

  readonly ended: Promise<Ended>;
  private readonly child: ChildProcess;
  private readonly texts = { output: '', errors: '' };

  /** @param file such as `main.js` or `cli/main.js`, or any absolute path */
  constructor(file: string, options: ProgramOptions = {}) {
    const { node = process.execPath, folder: cwd } = options;
    this.child = spawn(node, [resolve(PROGRAMS, file), ...(options.arguments ?? [])], {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    Program.running.add(this);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.texts.output += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.texts.errors += text));
    // The program may end before it reads its input.
    this.child.stdin?.on('error', () => undefined);
    if (!options.inputStaysOpen) this.child.stdin?.end(options.input ?? '');
    this.ended = new Promise((resolveEnded) => {
      this.child.once('close', (code) => {
        Program.running.delete(this);
        this.keepLogLines();
        resolveEnded({ code, ...this.texts });
      });
    });
  }

  /** Kills all running programs. Call it in `afterEach` or `afterAll`. */
  static async endAll(): Promise<void> {
    await Promise.all(
      [...Program.running].map((program) => {
        program.signal('SIGKILL');
        return program.ended;
      }),
    );
  }

  get output(): string {
    return this.texts.output;
  }

  /** Standard error. */
  get errors(): string {
    return this.texts.errors;
  }

  get pid(): number {
    return Number(this.child.pid);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  write(text: string): void {
    this.child.stdin?.write(text);
  }

  /** Closes the pipe, as `| head` does. */
  closeOutput(): void {
    this.child.stdout?.destroy();
  }

  /** Waits until standard output matches the pattern. Rejects if the program ends first. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    return this.waitFor('output', pattern);
  }

  /** Waits until standard error matches the pattern. Rejects if the program ends first. */
  waitForErrors(pattern: RegExp): Promise<RegExpExecArray> {
    return this.waitFor('errors', pattern);
  }

  private async waitFor(stream: 'output' | 'errors', pattern: RegExp): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | undefined => {
      const found = pattern.exec(this.texts[stream]) ?? undefined;
      if (!found && this.child.exitCode !== null) {
        throw new Error(
          `The program ended with ${this.child.exitCode}:\n${this.texts.output}${this.texts.errors}`,
        );
      }
      return found;
    };
    return eventually(`the ${stream} of a program matches ${pattern}`, look, TIMEOUT);
  }

  /** Stores log lines, which the reporter searches for secrets after the run. */
  private keepLogLines(): void {
    const lines = `${this.texts.output}\n${this.texts.errors}`.split('\n');
    const logged = lines.filter((line) => line.startsWith('{"level"'));
    if (logged.length > 0) appendFileSync(LOGS, `${logged.join('\n')}\n`);
  }
}

/** Runs a program until it ends. */
export function run(file: string, options: ProgramOptions = {}): Promise<Ended> {
  return new Program(file, options).ended;
}
