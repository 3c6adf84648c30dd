import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from './eventually.js';

const PROGRAMS = join(import.meta.dirname, '..', '..', 'dist', 'src');
/** Milliseconds: a start takes two seconds, on a busy machine several times that. */
const PATIENCE = 30_000;
const LOGS = join(process.env.TEST_RUN_DIRECTORY ?? '', 'logs', `${process.pid}.programs.log`);

export interface ProgramOptions {
  readonly arguments?: readonly string[];
  /** All that the program finds in its environment, besides what it needs to run at all. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard input, which then ends, or stays open for `tell`. */
  readonly input?: string;
  readonly inputStaysOpen?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** A built program of ours (`npm test` builds before), running as a process of its own. */
export class Program {
  private static readonly running = new Set<Program>();

  readonly ended: Promise<Ended>;
  private readonly child: ChildProcess;
  private readonly texts = { output: '', errors: '' };

  /** @param file below `dist/src`, such as `main.js`, or any absolute path */
  constructor(file: string, options: ProgramOptions = {}) {
    this.child = spawn(process.execPath, [resolve(PROGRAMS, file), ...(options.arguments ?? [])], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    Program.running.add(this);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.texts.output += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.texts.errors += text));
    // A program that does not ask for its input may be gone before it is written.
    this.child.stdin?.on('error', () => undefined);
    if (!options.inputStaysOpen) this.child.stdin?.end(options.input ?? '');
    this.ended = new Promise((tell) => {
      this.child.once('close', (code) => {
        Program.running.delete(this);
        this.keepLogLines();
        tell({ code, ...this.texts });
      });
    });
  }

  /** For `afterEach` and `afterAll`: nothing that was started here outlives its test. */
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

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  tell(text: string): void {
    this.child.stdin?.write(text);
  }

  /** As `| head` does when it has enough. */
  closeOutput(): void {
    this.child.stdout?.destroy();
  }

  /** Waits until standard output holds it; fails when the program ends before. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | undefined => {
      const found = pattern.exec(this.texts.output) ?? undefined;
      if (!found && this.child.exitCode !== null) {
        throw new Error(`It ended with ${this.child.exitCode}:\n${this.texts.output}${this.texts.errors}`);
      }
      return found;
    };
    return eventually(`a program says ${pattern}`, look, PATIENCE);
  }

  /** For the search for secrets at the end of the whole run. */
  private keepLogLines(): void {
    const lines = `${this.texts.output}\n${this.texts.errors}`.split('\n');
    const logged = lines.filter((line) => line.startsWith('{"level"'));
    if (logged.length > 0) appendFileSync(LOGS, `${logged.join('\n')}\n`);
  }
}

/** Runs a program to its end. */
export function run(file: string, options: ProgramOptions = {}): Promise<Ended> {
  return new Program(file, options).ended;
}
