import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createCluster, readPassword, SUPERUSER } from './cluster.js';
import { explain } from './failures.js';
import { findPlace, type Place } from './place.js';
import { Presence } from './presence.js';
import { isAlive } from './processes.js';
import { launch, readPostmaster, stop, tooLate, type Postmaster } from './server.js';
import { takeStartLock } from './start-lock.js';

const PATIENCE_MS = 120_000;
const RETRY_MS = 100;

/** A server listens within milliseconds of writing its pid down; what stays silent for longer is none. */
const SILENCE_MS = 2_000;

const INVALID_PASSWORD = '28P01';

/** Makes tests faster, and is worthless after a power cut. */
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** A running PostgreSQL and how to let go of it. */
export interface EmbeddedPostgres {
  /** postgres://user:password@127.0.0.1:port/database */
  readonly url: string;
  /** Where the data really lies, which for root may be elsewhere than requested. */
  readonly directory: string;
  /** Stops the server if no other process uses it. Close every connection of your own before. */
  release(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Where to keep the data, for instance /srv/service/.data/postgres; its log and lock lie beside it. */
  directory: string;
  /** Created if absent; 'merchant_connectivity' by default. */
  database?: string;
  /** False for tests: killing the server then costs its last writes, and a power cut the data. */
  durable?: boolean;
  /** Told, in a sentence, what an operator should know. */
  report?: (sentence: string) => void;
  /** More of PostgreSQL's settings. They reach a server that is started, not one that is found running. */
  settings?: Record<string, string>;
}

/**
 * Gives access to the one PostgreSQL server of a directory, which any number of processes share: the first
 * creates and starts it, the others find it, and the last to release it stops it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database = 'merchant_connectivity', durable = true, report = () => undefined } = options;
  const settings = { ...(durable ? {} : NOT_DURABLE), ...options.settings };
  const requested = resolve(options.directory);
  try {
    const place = await findPlace(requested, report);
    const presence = await enter(place, durable, settings);
    let released: Promise<void> | undefined;
    const release = (): Promise<void> => (released ??= presence.leave(() => stop(place)));
    await presence.ensureDatabase(database).catch(async (error: unknown) => {
      await release();
      throw error;
    });

    const { port, password } = presence.endpoint;
    const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
    return { url, directory: place.directory, release };
  } catch (error) {
    throw explain(error, requested);
  }
}

/** Joins the server of a place, and starts it as often as there is none to join. */
async function enter(place: Place, durable: boolean, settings: Record<string, string>): Promise<Presence> {
  const deadline = performance.now() + PATIENCE_MS;
  let silent: { pid: number; since: number } | undefined;
  let reason = '';

  while (performance.now() < deadline) {
    const password = await readPassword(place);
    const postmaster = await readPostmaster(place);
    if (password && postmaster && isAlive(postmaster.pid)) {
      try {
        return await Presence.join(() => locate(place));
      } catch (error) {
        reason = String(error);
        if (isAnswer(error)) silent = undefined;
        else if (silent?.pid !== postmaster.pid) silent = { pid: postmaster.pid, since: performance.now() };
      }
      if (!silent || performance.now() - silent.since < SILENCE_MS) {
        await sleep(RETRY_MS);
        continue;
      }
    }
    if (!(await start(place, durable, settings, postmaster, deadline))) await sleep(RETRY_MS);
  }
  throw await tooLate(place, reason);
}

async function locate(place: Place): Promise<{ port: number; password: string } | undefined> {
  const [password, postmaster] = [await readPassword(place), await readPostmaster(place)];
  return password && postmaster ? { port: postmaster.port, password } : undefined;
}

/** Whether it is our server that refuses, be it that it is starting or stopping; a wrong password is another's. */
function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== INVALID_PASSWORD;
}

async function start(
  place: Place,
  durable: boolean,
  settings: Record<string, string>,
  stale: Postmaster | undefined,
  deadline: number,
): Promise<boolean> {
  const endTurn = await takeStartLock(place.lock);
  try {
    // Whoever had the turn before us may have started it.
    const postmaster = await readPostmaster(place);
    if (postmaster?.pid !== stale?.pid) return true;
    if (!(await readPassword(place))) await createCluster(place, durable);
    return await launch(place, settings, stale, deadline);
  } finally {
    await endTurn();
  }
}
