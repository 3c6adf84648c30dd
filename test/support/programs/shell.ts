import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadFactor } from '../eventually.js';

/** Runs all blocks of a page in one `bash -eu`, so that they share variables. */
export class Shell {
  private readonly bash: ChildProcessWithoutNullStreams;
  private readonly ended: Promise<unknown>;
  private blocks = 0;

  /**
   * @param folder where commands run
   * @param timeout milliseconds that one block of commands may take on an idle machine
   */
  constructor(
    private readonly folder: string,
    private readonly timeout = 600_000,
  ) {
    // Detached, so that `end` can stop the whole process group, including background commands.
    this.bash = spawn('bash', ['--norc', '--noprofile', '-s'], {
      cwd: folder,
      detached: true,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        TMPDIR: process.env.TMPDIR,
        XDG_CONFIG_HOME: join(folder, '.config'),
      },
    });
    this.bash.stdin.on('error', () => undefined);
    this.bash.stdin.write('set -eu -o pipefail\n');
    this.ended = once(this.bash, 'exit');
  }

  /** Returns the output of the current or last commands so far, on both streams. */
  get shown(): string {
    if (this.blocks === 0) return '';
    const read = (stream: string): string =>
      readFileSync(`${this.nameOfBlock}.${stream}`, { encoding: 'utf8', flag: 'a+' });
    return read('out') + read('err');
  }

  private get nameOfBlock(): string {
    return join(this.folder, `.block-${this.bash.pid}-${this.blocks}`);
  }

  /** Runs commands and returns their output. Rejects if one of them fails. */
  async run(commands: string): Promise<string> {
    this.blocks += 1;
    const file = this.nameOfBlock;
    writeFileSync(`${file}.sh`, commands);
    this.bash.stdin.write(`. '${file}.sh' > '${file}.out' 2> '${file}.err' < /dev/null; echo done\n`);
    const timeLimit = new AbortController();
    const timer = setTimeout(() => timeLimit.abort(), this.timeout * loadFactor());
    const outcome = await Promise.race([
      once(this.bash.stdout, 'data').then(() => 'done'),
      this.ended.then(() => 'failed'),
      once(timeLimit.signal, 'abort').then(() => 'took too long'),
    ]);
    clearTimeout(timer);
    const output = readFileSync(`${file}.out`, 'utf8');
    if (outcome === 'done') return output;
    throw new Error(`The block ${outcome}:\n${commands}\n${output}${readFileSync(`${file}.err`, 'utf8')}`);
  }

  /** Sets a variable without exporting it. */
  async set(name: string, value: string): Promise<void> {
    await this.run(`${name}=${quoted(value)}\n`);
  }

  async end(): Promise<void> {
    if (this.bash.pid !== undefined && this.bash.exitCode === null) process.kill(-this.bash.pid, 'SIGTERM');
    await this.ended;
  }
}

/** Quotes a text for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
