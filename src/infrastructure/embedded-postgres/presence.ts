import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SUPERUSER } from './cluster.js';

/** Any number, as long as every process that shares a server means the same. */
const KEY = 4_207_516_893;
const REJOIN_AFTER_MS = 1_000;

/** duplicate_database, and what it is called when both are at it in the same instant (unique_violation). */
const ALREADY_EXISTS: ReadonlySet<string | undefined> = new Set(['42P04', '23505']);

interface Endpoint {
  readonly port: number;
  readonly password: string;
}

interface Session {
  readonly endpoint: Endpoint;
  readonly client: pg.Client;
  readonly socket: Socket;
}

/**
 * A process's presence at the server: a session of its own which holds a shared advisory lock. PostgreSQL drops
 * the lock with the session, so even a process killed with -9 is not counted for longer than it lives.
 */
export class Presence {
  private readonly leaving = new AbortController();
  private rejoining: Promise<void> | undefined;

  private constructor(
    private readonly locate: () => Promise<Endpoint | undefined>,
    private session: Session | undefined,
    readonly endpoint: Endpoint,
  ) {
    this.watch();
  }

  /** Resolves once we are counted. Whoever is just stopping the server is waited for, and then this rejects. */
  static async join(locate: () => Promise<Endpoint | undefined>): Promise<Presence> {
    const session = await join(locate);
    return new Presence(locate, session, session.endpoint);
  }

  /** Creates the database unless it exists; of several processes that do so at once, one succeeds. */
  async ensureDatabase(name: string): Promise<void> {
    const { client, socket } = this.session ?? (await join(this.locate));
    socket.ref();
    try {
      const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
      if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
    } catch (error) {
      if (!ALREADY_EXISTS.has((error as pg.DatabaseError).code)) throw error;
    } finally {
      socket.unref();
    }
  }

  /**
   * Gives up our presence, and stops the server if nobody else is present. Our own lock goes first: of two that
   * leave at once each would otherwise see the other and leave the server to it. While we hold the lock alone,
   * whoever wants to join waits for it, loses the connection with the server, and starts it again.
   */
  async leave(stopServer: () => Promise<void>): Promise<void> {
    this.leaving.abort();
    await this.rejoining;
    const session = this.session ?? (await join(this.locate).catch(() => undefined));
    if (!session) return;
    session.socket.ref();
    try {
      if (await isLastOne(session.client)) await stopServer();
    } finally {
      await session.client.end();
    }
  }

  private watch(): void {
    // Presence alone must not keep a process from ending.
    this.session?.socket.unref();
    this.session?.client.once('end', () => {
      this.session = undefined;
      if (!this.leaving.signal.aborted) this.rejoining = this.rejoin();
    });
  }

  /** After a crash the server comes back by itself, or with the next process that starts it. */
  private async rejoin(): Promise<void> {
    const { signal } = this.leaving;
    while (!this.session && !signal.aborted) {
      await sleep(REJOIN_AFTER_MS, undefined, { ref: false, signal }).catch(() => undefined);
      if (!signal.aborted) this.session = await join(this.locate).catch(() => undefined);
    }
    this.watch();
  }
}

async function join(locate: () => Promise<Endpoint | undefined>): Promise<Session> {
  const endpoint = await locate();
  if (!endpoint) throw new Error('no server is running');
  const socket = new Socket();
  const client = new pg.Client({
    host: '127.0.0.1',
    port: endpoint.port,
    user: SUPERUSER,
    password: endpoint.password,
    database: 'postgres',
    application_name: 'presence',
    ssl: false,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    stream: () => socket,
  });
  // Without a listener a dying server would take the process with it. 'end' follows, and is acted upon.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`SELECT pg_advisory_lock_shared(${KEY})`);
    return { endpoint, client, socket };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function isLastOne(client: pg.Client): Promise<boolean> {
  try {
    await client.query(`SELECT pg_advisory_unlock_shared(${KEY})`);
    const { rows } = await client.query<{ alone: boolean }>(`SELECT pg_try_advisory_lock(${KEY}) AS alone`);
    return rows[0]?.alone ?? false;
  } catch {
    return false; // The server went away meanwhile, so there is nothing left to stop.
  }
}
