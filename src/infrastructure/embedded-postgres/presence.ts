import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Client } from '../database/index.js';

/** Key of the advisory lock: an arbitrary number, the same in all processes. */
const LOCK = 4_207_516_893;
const RECONNECT_INTERVAL_MS = 1_000;

/** SQLSTATE duplicate_database, or unique_violation if two processes create the database at the same instant. */
const ALREADY_EXISTS: ReadonlySet<string | undefined> = new Set(['42P04', '23505']);

/**
 * Marks this process as a user of the server, by a session that holds a shared advisory lock. PostgreSQL releases
 * the lock with the session, so a killed process no longer counts.
 */
export class Presence {
  private readonly leaving = new AbortController();
  private session: { readonly client: pg.Client; readonly socket: Socket } | undefined;
  private reconnecting: Promise<void> | undefined;

  /**
   * @param findServer returns the URL of the server without a database
   * @param database created if it does not exist
   * @param restore joins the server again after it ended, and starts it if no other process did
   */
  constructor(
    private readonly findServer: () => Promise<string>,
    private readonly database: string,
    private readonly restore: () => Promise<void>,
  ) {}

  /** Rejects when the server is not available, for example because its last user is stopping it. */
  async join(): Promise<void> {
    const socket = new Socket();
    const client = new Client({
      connectionString: `${await this.findServer()}/postgres`,
      ssl: false,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      stream: () => socket,
    });
    // Without a listener, a server that stops would crash this process. The event `end`, which is handled below,
    // follows.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(`SELECT pg_advisory_lock_shared(${LOCK})`);
      await createDatabase(client, this.database);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    // The session must not keep the process running.
    socket.unref();
    this.session = { client, socket };
    client.once('end', () => {
      this.session = undefined;
      if (!this.leaving.signal.aborted) this.reconnecting = this.reconnect();
    });
  }

  /**
   * Ends the session, and stops the server if no other process uses it. The shared lock is released first: otherwise
   * each of two processes that leave at the same time would see the other and leave the server running. A process
   * that joins while the server stops waits for the lock, loses its connection, and starts the server again.
   */
  async leave(stopServer: () => Promise<void>): Promise<void> {
    this.leaving.abort();
    await this.reconnecting;
    if (!this.session) await this.join().catch(() => undefined);
    if (!this.session) return;
    const { client, socket } = this.session;
    socket.ref();
    try {
      if (await isLastUser(client)) await stopServer();
    } finally {
      await client.end();
    }
  }

  private async reconnect(): Promise<void> {
    const { signal } = this.leaving;
    while (!this.session && !signal.aborted) {
      const pause = sleep(RECONNECT_INTERVAL_MS, undefined, { ref: false, signal });
      await pause.then(() => this.restore()).catch(() => undefined);
    }
  }
}

async function createDatabase(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (rowCount) return;
  await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`).catch((error: pg.DatabaseError) => {
    if (!ALREADY_EXISTS.has(error.code)) throw error;
  });
}

async function isLastUser(client: pg.Client): Promise<boolean> {
  try {
    await client.query(`SELECT pg_advisory_unlock_shared(${LOCK})`);
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${LOCK}) AS alone`);
    return rows[0].alone;
  } catch {
    return false; // The server has ended meanwhile.
  }
}
