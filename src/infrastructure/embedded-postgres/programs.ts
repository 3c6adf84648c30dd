import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';

const PLATFORMS = /^(darwin-(arm64|x64)|linux-(arm|arm64|ia32|ppc64|x64))$/;

/** Directory for data and programs if the service runs as root and PostgreSQL's user cannot access their original location. */
export const ROOT_DIRECTORY = '/var/lib/merchant-connectivity-service';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Options of every program that is started here. The working directory is one that every user can enter. The
 * environment is not inherited, because variables such as PGDATA and PGPORT redirect PostgreSQL. Messages are in
 * English, because they are parsed.
 */
export const SPAWN_OPTIONS = {
  cwd: '/',
  env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
};

/** Runs a program until it ends. A failure, even a failure to start it, is a result and not an exception. */
export function run(
  program: string,
  args: string[],
  user?: User,
): Promise<{ isOk: boolean; output: string }> {
  return new Promise((resolve) => {
    try {
      execFile(program, args, { ...SPAWN_OPTIONS, ...user }, (error, stdout, stderr) => {
        resolve({ isOk: error === null, output: (stderr || stdout || (error?.message ?? '')).trim() });
      });
    } catch (error) {
      // Node.js throws if it is not allowed to change the user.
      resolve({ isOk: false, output: String(error) });
    }
  });
}

export interface Programs {
  readonly packageName: string;
  readonly version: string;
  /** Contains bin, lib and share, which must stay together. */
  readonly folder: string;
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
}

/**
 * Finds the programs for this platform. The package `embedded-postgres` itself is not imported, because its exit
 * hooks stop the server before the application has closed its connections.
 */
export async function findPrograms(): Promise<Programs> {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.test(platform)) {
    throw new EmbeddedPostgresError(`There is no embedded PostgreSQL for this platform (${platform}).`);
  }
  const packageName = `@embedded-postgres/${platform}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(packageName)));
  } catch (cause) {
    const problem = `The package ${packageName}, which contains PostgreSQL, is not installed.`;
    throw new EmbeddedPostgresError(problem, 'Run "npm install" with optional dependencies', { cause });
  }
  await restoreSymlinks(root, packageName);
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return programsIn(join(root, 'native'), packageName, version);
}

/**
 * Creates missing symbolic links. npm packages cannot contain them, and npm may be configured not to run the install
 * script that creates them.
 */
async function restoreSymlinks(root: string, packageName: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    await symlink(relative(dirname(target), source), link).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EEXIST') return;
      const problem = `${link} is missing, because npm did not run the install script of ${packageName}.`;
      throw new EmbeddedPostgresError(problem, `Run "npm rebuild ${packageName}"`, { cause });
    });
  }
}

/** Returns the installed programs if the user can run them, otherwise a copy. Needed only if the service runs as root. */
export async function programsFor(user: User, programs: Programs): Promise<Programs> {
  if ((await run(programs.postgres, ['--version'], user)).isOk) return programs;
  const folder = join(ROOT_DIRECTORY, `postgres-${programs.version}`);
  if (!existsSync(folder)) {
    await makeAccessible(ROOT_DIRECTORY);
    // Renamed when it is complete, so that an interrupted copy is never used.
    const incomplete = `${folder}.new-${process.pid}`;
    await cp(programs.folder, incomplete, { recursive: true, verbatimSymlinks: true });
    await run('chmod', ['-R', 'a+rX', incomplete]);
    await rename(incomplete, folder).catch(() => rm(incomplete, { recursive: true, force: true }));
  }
  const copy = programsIn(folder, programs.packageName, programs.version);
  const { isOk, output } = await run(copy.postgres, ['--version'], user);
  if (isOk) return copy;
  const problem = `PostgreSQL does not run as root, and user ${user.uid} cannot run ${folder} (${output}).`;
  throw new EmbeddedPostgresError(problem, 'Start the service as an ordinary user');
}

function programsIn(folder: string, packageName: string, version: string): Programs {
  const program = (name: string): string => join(folder, 'bin', name);
  const initdb = program('initdb');
  const pgCtl = program('pg_ctl');
  const postgres = program('postgres');
  return { packageName, version, folder, initdb, pgCtl, postgres };
}

/** Creates a folder that every user can enter, whatever the umask is. */
export async function makeAccessible(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
}

export async function unprivilegedUser(report: (sentence: string) => void): Promise<User> {
  const existing = await lookUp('postgres');
  if (existing) return existing;
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
  if ((await run('useradd', [...options, 'postgres'])).isOk) {
    report('Created the system user "postgres", because PostgreSQL does not run as root.');
  }
  const user = (await lookUp('postgres')) ?? (await lookUp('nobody'));
  if (user) return user;
  const problem = 'PostgreSQL does not run as root, and no other user was found or created.';
  throw new EmbeddedPostgresError(problem, 'Start the service as an ordinary user');
}

async function lookUp(name: string): Promise<User | undefined> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  return uid.isOk && gid.isOk ? { uid: Number(uid.output), gid: Number(gid.output) } : undefined;
}
