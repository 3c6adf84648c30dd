import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError, programFailure } from './embedded-postgres.error.js';
import * as programs from './programs.js';

export const SUPERUSER = 'postgres';

/** Inside the data directory, so that data and password are created, moved and deleted together. */
const PASSWORD_FILE = 'superuser.password';

/** A PostgreSQL data directory, the programs that work on it, and the user that they run as. */
export interface Cluster {
  readonly directory: string;
  readonly log: string;
  readonly programs: programs.Programs;
  readonly user?: programs.User;
}

/**
 * Decides where the cluster is. The same requested directory always leads to the same cluster. PostgreSQL refuses to
 * run as root, so root's cluster belongs to another user, who alone can enter a new data directory too. The cluster is
 * elsewhere if that user cannot reach the directory.
 */
export async function locateCluster(requested: string, report: (sentence: string) => void): Promise<Cluster> {
  const installed = await programs.findPrograms();
  const parent = dirname(requested);
  if (process.getuid?.() !== 0) {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    return { directory: requested, log: `${requested}.log`, programs: installed };
  }

  const alternative = alternativeTo(requested);
  // An existing cluster stays where it is, with its owner.
  const owner = await ownerOf(requested);
  const alternativeOwner = owner ? undefined : await ownerOf(alternative);
  const user = owner ?? alternativeOwner ?? (await programs.unprivilegedUser(report));
  if (!(await stat(parent).catch(() => undefined))) await createEnterable(parent, user);
  // Tries to enter the directory, because file modes do not show everything that can deny access.
  const isReachable = (await programs.run('/bin/sh', ['-c', 'cd "$0"', parent], user)).isOk;
  if (owner && !isReachable) {
    const problem = `The data in ${requested} belongs to user ${user.uid}, which can no longer enter ${parent}.`;
    throw new EmbeddedPostgresError(problem, 'Grant that user access to it and its parents (chmod o+x)');
  }
  const directory = alternativeOwner || !isReachable ? alternative : requested;
  if (directory === alternative) {
    await programs.makeAccessible(programs.ROOT_DIRECTORY);
    await programs.makeAccessible(dirname(directory));
    report(
      `The PostgreSQL data is in ${directory}: PostgreSQL runs as user ${user.uid} instead of root, ` +
        `and this user cannot enter ${parent}.`,
    );
  }
  return { directory, log: `${directory}.log`, programs: await programs.programsFor(user, installed), user };
}

/** Returns whether the cluster of a directory exists, also if this process cannot enter it. */
export async function hasCluster(requested: string): Promise<boolean> {
  const exists = (directory: string): Promise<boolean> =>
    stat(join(directory, 'PG_VERSION')).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'EACCES',
    );
  return (await exists(requested)) || exists(alternativeTo(requested));
}

/** Returns where the cluster of root is if its user cannot reach the directory. */
function alternativeTo(requested: string): string {
  const hash = createHash('sha256').update(requested).digest('hex').slice(0, 16);
  return join(programs.ROOT_DIRECTORY, hash, 'postgres');
}

/**
 * Creates a directory of root that the user can enter. It gets its name last: a process that starts at the same time and
 * finds a directory that the user cannot enter would create a second cluster elsewhere.
 */
async function createEnterable(directory: string, { gid }: programs.User): Promise<void> {
  await mkdir(dirname(directory), { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(`${directory}.new-`);
  try {
    await chown(draft, 0, gid);
    await chmod(draft, 0o710);
    await rename(draft, directory).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster, and has already used its directory.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** @returns undefined if there is no cluster that this process can see. Another failure must not lead to a second cluster elsewhere. */
async function ownerOf(directory: string): Promise<programs.User | undefined> {
  const version = await stat(join(directory, 'PG_VERSION')).catch((error: NodeJS.ErrnoException) => {
    if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(error.code ?? '')) throw error;
  });
  return version && version.uid !== 0 ? { uid: version.uid, gid: version.gid } : undefined;
}

export async function readPassword({ directory, ...cluster }: Cluster): Promise<string | undefined> {
  const version = (await readIfExists(join(directory, 'PG_VERSION')))?.trim();
  if (version === undefined) return undefined;
  const [supported] = cluster.programs.version.split('.');
  if (version !== supported) {
    const problem = `The data in ${directory} belongs to PostgreSQL ${version}, but this is PostgreSQL ${supported}.`;
    throw new EmbeddedPostgresError(problem, 'Move that directory away to begin with an empty database');
  }
  const password = await readIfExists(join(directory, PASSWORD_FILE));
  if (password) return password;
  const problem = `The data in ${directory} was not created by this service: ${PASSWORD_FILE} is missing.`;
  throw new EmbeddedPostgresError(problem, 'Restore that file, or move the directory away');
}

export async function readIfExists(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

/**
 * Creates the cluster under another name and renames it when it is complete, so that an interrupted start leaves
 * nothing that looks like a cluster. If several processes create it at the same time, the first one wins.
 */
export async function createCluster(cluster: Cluster, isDurable: boolean): Promise<void> {
  const { directory, user } = cluster;
  const work = `${directory}.new-${process.pid}`;
  const data = join(work, 'data');
  const password = join(work, 'password');
  try {
    await rm(work, { recursive: true, force: true });
    await mkdir(data, { recursive: true, mode: 0o700 });
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flush: isDurable });
    if (user) for (const path of [work, data, password]) await chown(path, user.uid, user.gid);
    const args = [
      `--pgdata=${data}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${password}`,
      '--auth=scram-sha-256',
    ];
    // C.UTF-8 is built into PostgreSQL; not every system has a UTF-8 locale.
    args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
    const { isOk, output } = await programs.run(
      cluster.programs.initdb,
      isDurable ? args : [...args, '--no-sync'],
      user,
    );
    if (!isOk) throw await programFailure(cluster, `PostgreSQL could not create ${directory}.`, output);
    await rename(password, join(data, PASSWORD_FILE));
    await rename(data, directory).catch(async (cause: NodeJS.ErrnoException) => {
      if (await readPassword(cluster)) return;
      const problem = `${directory} is not PostgreSQL's data (${cause.code}).`;
      throw new EmbeddedPostgresError(problem, 'Move it away, or use a folder inside it', { cause });
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
