import { createHash } from 'node:crypto';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { makeOpenFolder, unless } from './files.js';
import { unprivilegedUser } from './operating-user.js';
import { run, type User } from './processes.js';
import { findPrograms, programsWithinReach, type Programs } from './programs.js';

/** Where root keeps what the unprivileged user could not reach in its requested place. */
const SHELTER = '/var/lib/merchant-connectivity-service';

/** Where a cluster lies, which programs work on it, and as whom they run. */
export interface Place {
  readonly directory: string;
  readonly log: string;
  readonly lock: string;
  readonly programs: Programs;
  readonly user?: User;
}

/** Decides on the place of a cluster; the same wish leads to the same place on every later start. */
export async function findPlace(requested: string, report: (sentence: string) => void): Promise<Place> {
  const programs = await findPrograms();
  await mkdir(dirname(requested), { recursive: true });
  const directory = await withoutLinks(requested);
  return process.getuid?.() === 0
    ? findPlaceForRoot(directory, programs, report)
    : placeAt(directory, programs);
}

async function findPlaceForRoot(
  requested: string,
  programs: Programs,
  report: (sentence: string) => void,
): Promise<Place> {
  const hash = createHash('sha256').update(requested).digest('hex').slice(0, 16);
  const elsewhere = join(SHELTER, hash, 'postgres');

  // A cluster that exists goes on where it is and with its owner, who may be the developer who made it
  // without being root. Only a new one is free to choose.
  const ownerThere = await ownerOfCluster(requested);
  const ownerElsewhere = ownerThere ? undefined : await ownerOfCluster(elsewhere);
  const user = ownerThere ?? ownerElsewhere ?? (await unprivilegedUser(report));

  const folder = dirname(requested);
  const reachable = await canEnter(folder, user);
  if (ownerThere && !reachable) {
    throw new EmbeddedPostgresError(
      `The data of PostgreSQL lies in ${requested} and belongs to user ${user.uid}, who can no longer enter ${folder}.`,
      { remedy: 'Give that user access to the folder and those above it (chmod o+x)' },
    );
  }

  const withinReach = await programsWithinReach(programs, user, SHELTER);
  if (reachable && !ownerElsewhere) return placeAt(requested, withinReach, user);

  await makeOpenFolder(SHELTER);
  await makeOpenFolder(dirname(elsewhere));
  report(
    `The data of PostgreSQL is kept in ${elsewhere}, because PostgreSQL does not run as root, and user ` +
      `${user.uid}, as whom it runs instead, could not enter ${folder}.`,
  );
  return placeAt(elsewhere, withinReach, user);
}

function placeAt(directory: string, programs: Programs, user?: User): Place {
  return { directory, log: `${directory}.log`, lock: `${directory}.lock`, programs, ...(user && { user }) };
}

async function withoutLinks(path: string): Promise<string> {
  const whole = await realpath(path).catch(unless('ENOENT'));
  return whole ?? join(await realpath(dirname(path)), basename(path));
}

async function ownerOfCluster(directory: string): Promise<User | undefined> {
  const version = await stat(join(directory, 'PG_VERSION')).catch(unless('ENOENT', 'ENOTDIR'));
  return version && version.uid !== 0 ? { uid: version.uid, gid: version.gid } : undefined;
}

/** Tried as that user instead of read off the modes, which do not show access lists and the like. */
async function canEnter(folder: string, user: User): Promise<boolean> {
  return (await run('/bin/sh', ['-c', 'cd "$0"', folder], user)).ok;
}
