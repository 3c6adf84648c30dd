import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { programFailure } from './failures.js';
import { readIfThere, unless } from './files.js';
import type { Place } from './place.js';
import { run } from './processes.js';

export const SUPERUSER = 'postgres';

/** Lies inside the cluster, so that data and password come into being, move and vanish together. */
const PASSWORD_FILE = 'superuser.password';

/** The superuser's password of the cluster, or undefined when there is no cluster yet. */
export async function readPassword({ directory, programs }: Place): Promise<string | undefined> {
  const version = (await readIfThere(join(directory, 'PG_VERSION')))?.trim();
  if (version === undefined) return undefined;
  if (version !== programs.major) {
    throw new EmbeddedPostgresError(
      `The data in ${directory} belongs to PostgreSQL ${version}, but this is PostgreSQL ${programs.major}.`,
      { remedy: 'Move that directory away to begin with an empty database' },
    );
  }
  const password = await readIfThere(join(directory, PASSWORD_FILE));
  if (!password) {
    throw new EmbeddedPostgresError(
      `The data in ${directory} was not created by this service: ${PASSWORD_FILE} is missing there.`,
      { remedy: 'Put that file back, or move the directory away to begin with an empty database' },
    );
  }
  return password;
}

/**
 * Makes the cluster in a temporary place beside its own and moves it there whole: whoever is killed in the
 * middle leaves nothing that looks like a cluster.
 */
export async function createCluster(place: Place, durable: boolean): Promise<void> {
  const { directory, programs, user } = place;
  await removeUnfinished(directory);
  await makeRoom(directory);

  const workplace = await mkdtemp(unfinished(directory));
  const data = join(workplace, 'data');
  const password = join(workplace, 'password');
  try {
    await mkdir(data, { mode: 0o700 });
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flush: durable });
    if (user) for (const path of [workplace, data, password]) await chown(path, user.uid, user.gid);

    const settings = [
      `--pgdata=${data}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${password}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // PostgreSQL's own C.UTF-8, since not every system has a locale of that name.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      ...(durable ? [] : ['--no-sync']),
    ];
    const initdb = await run(programs.initdb, settings, user);
    if (!initdb.ok)
      throw await programFailure(
        place,
        `PostgreSQL could not create its data in ${directory}.`,
        initdb.output,
      );

    await rename(password, join(data, PASSWORD_FILE));
    await rename(data, directory);
  } finally {
    await rm(workplace, { recursive: true, force: true });
  }
}

const unfinished = (directory: string): string => `${directory}.new-`;

async function removeUnfinished(directory: string): Promise<void> {
  const prefix = basename(unfinished(directory));
  for (const name of await readdir(dirname(directory))) {
    if (name.startsWith(prefix)) await rm(join(dirname(directory), name), { recursive: true, force: true });
  }
}

async function makeRoom(directory: string): Promise<void> {
  try {
    await rmdir(directory).catch(unless('ENOENT'));
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${directory} is taken by something that is not PostgreSQL's data ` +
        `(${(error as NodeJS.ErrnoException).code}).`,
      { remedy: 'Move it away, or use a folder inside it', cause: error },
    );
  }
}
