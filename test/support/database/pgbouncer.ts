import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { freePort, isListening } from '../programs/ports.js';

const FILE = ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'].find((file) =>
  existsSync(file),
);
const MISSING = 'There is no pgbouncer: install it (on Debian: apt-get install pgbouncer).';

/** Skips the tests where pgbouncer isn't installed, except in CI. */
export function describeWithPgBouncer(name: string, tests: () => void): void {
  if (FILE === undefined && process.env.CI !== 'true')
    describe.skip(`${name} (${MISSING})`, () => it('requires pgbouncer', () => undefined));
  else describe(name, tests);
}

/** A local PgBouncer in front of one database. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    /** The URL of the database through the pooler. */
    readonly url: string,
  ) {}

  /** @param settings lines of pgbouncer.ini */
  static async start(databaseUrl: string, ...settings: readonly string[]): Promise<PgBouncer> {
    if (FILE === undefined) throw new Error(MISSING);
    const port = await freePort();
    const { hostname, port: databasePort, pathname, username, password } = new URL(databaseUrl);
    // It refuses to run as root, and another user has to read its files.
    const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
    chmodSync(directory, 0o755);
    const users = join(directory, 'users.txt');
    writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
    const file = join(directory, 'pgbouncer.ini');
    writeFileSync(
      file,
      [
        '[databases]',
        `* = host=${hostname} port=${databasePort}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = plain',
        `auth_file = ${users}`,
        'default_pool_size = 50',
        ...settings,
        '',
      ].join('\n'),
    );
    const child = spawn(FILE, [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), '-q', file], {
      stdio: 'ignore',
    });
    await eventually('pgbouncer listens', () => isListening(port));
    return new PgBouncer(
      child,
      Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}`, pathname }).href,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}
