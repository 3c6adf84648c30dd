import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { backendOf, connectionOf } from '../framework-patches/index.js';
import { SECOND } from '../time/index.js';
import { applying, type SessionSettings } from './session-settings.js';
import { endsConnection, isReadOnly, isUnreachable } from './sql-state.js';

/** Milliseconds between two looks at all connections. */
const WATCH_INTERVAL = SECOND / 2;
/** Milliseconds after which a connection at rest is probed. */
const REST = 4 * SECOND;
/** Milliseconds without a response after which the server is asked whether it still runs the statement. */
const PATIENCE = 2 * SECOND;
/** Milliseconds without a response if nobody can say whether the server still runs the statement, as behind a pooler. */
const MAX_PATIENCE = 600 * SECOND;
/** Milliseconds between two questions about the same statement, at most. */
const LONGEST_WAIT = 60 * SECOND;
/** Milliseconds for which a response may be under way after the server has finished the statement. */
const UNDER_WAY = SECOND / 4;
/** Milliseconds. If connecting takes longer, the server is unreachable for the other connections, too. */
const CONNECT_TIMEOUT = 2.5 * SECOND;
const QUESTION_TIMEOUT = 2 * SECOND;
/** Milliseconds after a connection fell silent, or could not be opened, for which to say that the database does not respond. */
const SILENT_FOR = 10 * SECOND;
/** Milliseconds between two times that all connections to a read-only server are closed, at least. */
const LEAVE_INTERVAL = SECOND;
/** Milliseconds until a connection that was asked to end is closed. */
const GOODBYE = SECOND;

/**
 * Makes the server end what makes no progress, because it cannot know that a silent connection was closed. Until then, a transaction
 * would keep its locks, and a session its place among `max_connections`: after a few failures, the service could not connect again.
 */
export const POOLED_SESSION: SessionSettings = {
  idle_in_transaction_session_timeout: '5s',
  idle_session_timeout: '30s',
};
/** Makes the server end a session whose connection is not even probed any more, and so release its locks. */
export const IDLE_SESSION: SessionSettings = { idle_session_timeout: '12s' };

const names = new Map<string, string>();

/**
 * Marks a statement that runs so often that planning it each time would cost more than running it. Every connection
 * prepares it once. Use it for a constant only: prepared statements stay in memory.
 *
 * @returns the same text, which repositories run as any other statement
 */
export function prepared(statement: string): string {
  if (!names.has(statement)) names.set(statement, `prepared_${names.size + 1}`);
  return statement;
}

/**
 * The client of every connection to PostgreSQL.
 *
 * It closes a connection that has fallen silent: after a failover or a forgetful firewall, TCP does not notice for hours that
 * nobody responds. A connection at rest is probed with a statement. If a statement gets no response for 2 s, the server is asked
 * over a new connection whether it still runs. If the server has finished it, or cannot be reached, the connection is closed,
 * and everything that waits for it fails with ETIMEDOUT. A statement that runs long is left alone: `statement_timeout` ends it.
 *
 * It also closes a connection whose server reports that the failure is its own, such as a primary that became a replica, so
 * that the next statement gets a connection to the server that has the address now.
 *
 * See docs/decisions/0042-silent-connections.md.
 *
 * Statements marked by `prepared()` are run as prepared statements, because TypeORM cannot name statements.
 *
 * Every session has the settings that this service presumes, whatever the server, the database and the role have.
 */
export class Client extends pg.Client {
  /** When a statement was sent whose response is awaited, in milliseconds of a monotonic clock; undefined at rest. */
  private waitingSince: number | undefined;
  /** Whether the statement that is awaited is a probe. */
  isBeingProbed = false;
  private restingSince = performance.now();
  private heardAt = 0;
  private bytesRead = 0;
  /** Milliseconds of silence after which to ask the server next. */
  private patience = PATIENCE;

  constructor(readonly config: pg.ClientConfig = {}) {
    super(config);
    // The next statement on the connection fails with the error. There is a listener from the start: the pool removes its own
    // when it hands out a connection, and TypeORM adds one a moment later, so a server that shuts down in between would crash
    // this process.
    this.on('error', () => undefined);
    this.once('connect', () => add(this));
    this.once('end', () => remove(this));
    this.on('drain', () => {
      this.waitingSince = undefined;
      this.restingSince = performance.now();
      this.isBeingProbed = false;
    });
    connectionOf(this).on('errorMessage', (error: Error) => {
      if (!endsConnection(error)) return;
      this.abort(error);
      if (isReadOnly(error)) leaveServer(config.connectionString);
    });
    const query = this.query.bind(this) as (...parameters: unknown[]) => unknown;
    this.query = ((statement: unknown, ...rest: unknown[]) => {
      this.waitingSince ??= performance.now();
      const name = typeof statement === 'string' ? names.get(statement) : undefined;
      const config = name === undefined ? statement : { name, text: statement };
      // A cursor, or a statement with a callback.
      if ('submit' in Object(statement) || typeof rest.at(-1) === 'function') return query(config, ...rest);
      // pg's own promise keeps parameters and rows until a collection of the old generation (docs/decisions/0022-heap-growth.md).
      return new Promise((resolve, reject) => {
        query(config, rest[0], (error: Error | null, result: unknown) =>
          error ? reject(error) : resolve(result),
        );
      }).catch((error: unknown) => {
        // As pg does: the stack leads to the caller instead of the socket.
        Error.captureStackTrace(error as Error);
        throw error;
      });
    }) as typeof this.query;
    const end = this.end.bind(this) as (...parameters: unknown[]) => unknown;
    this.end = ((...parameters: unknown[]) => {
      // A silent server never closes its side.
      const timer = setTimeout(() => connectionOf(this).stream.destroy(), GOODBYE).unref();
      this.once('end', () => clearTimeout(timer));
      return end(...parameters);
    }) as typeof this.end;
  }

  /** Connects, and applies the settings of the session. */
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    const connected = this.connectAndApply();
    if (!callback) return connected;
    connected.then(() => callback(null as unknown as Error), callback);
  }

  private async connectAndApply(): Promise<pg.Client> {
    await super.connect();
    try {
      await this.query(...applying(this.config.session));
    } catch (error) {
      void this.end();
      throw error;
    }
    return this;
  }

  /** Probes a connection at rest. @returns whether it is time to ask the server about the statement that is awaited */
  watch(now: number): boolean {
    const { bytesRead } = connectionOf(this).stream;
    if (bytesRead !== this.bytesRead) {
      [this.bytesRead, this.heardAt, this.patience] = [bytesRead, now, PATIENCE];
    }
    if (this.waitingSince === undefined) {
      this.probe(now - REST);
      return false;
    }
    return this.silenceAt(now) > this.patience;
  }

  /** Milliseconds for which the statement that is awaited has had no response. */
  private silenceAt(now: number): number {
    return now - Math.max(this.waitingSince ?? now, this.heardAt);
  }

  /**
   * Begins an examination. @returns a function that ends it; it closes the connection if there was no sign of life meanwhile, and
   * returns whether it did
   */
  examine(): (isRunning: boolean | undefined) => boolean {
    const { waitingSince } = this;
    const { bytesRead } = connectionOf(this).stream;
    return (isRunning) => {
      this.patience = Math.min(2 * this.patience, this.patience + LONGEST_WAIT);
      const isUnchanged =
        this.waitingSince === waitingSince && connectionOf(this).stream.bytesRead === bytesRead;
      const isLost = !(isRunning ?? this.silenceAt(performance.now()) < MAX_PATIENCE);
      if (!isLost || !isUnchanged) return false;
      this.giveUp();
      return true;
    };
  }

  /** Sends a statement over a connection that has been at rest since before the time. */
  probe(time: number): void {
    if (this.waitingSince !== undefined || this.restingSince > time) return;
    this.isBeingProbed = true;
    this.query('SELECT 1').catch(() => undefined);
  }

  /** Closes the connection when it is at rest. */
  leave(error: Error): void {
    if (this.waitingSince === undefined) this.abort(error);
    else this.once('drain', () => this.abort(error));
  }

  private giveUp(): void {
    silentAt.set(this.config.connectionString, performance.now());
    const message = 'The connection to the database has fallen silent';
    this.abort(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  }

  /** Closes the connection as if it had broken. */
  private abort(error: Error): void {
    connectionOf(this).stream.destroy(error);
  }
}

const connections = new Set<Client>();
/** When a connection to a server last fell silent or could not be opened, by URL, in milliseconds of a monotonic clock. */
const silentAt = new Map<string | undefined, number>();
/** Servers that are being asked, by URL. */
const asked = new Set<string | undefined>();
/** When the connections to a server were last closed because it was read-only, by URL, on the same clock. */
const leftAt = new Map<string | undefined, number>();
let watching: NodeJS.Timeout | undefined;

function add(connection: Client): void {
  connections.add(connection);
  watching ??= setInterval(watch, WATCH_INTERVAL).unref();
}

function remove(connection: Client): void {
  if (!connections.delete(connection)) silentAt.set(connection.config.connectionString, performance.now());
  if (connections.size > 0) return;
  clearInterval(watching);
  watching = undefined;
}

/**
 * Closes the connections to a server that was found to be read-only. Its address may lead to the new primary by now, and
 * connections that only read or listen would never notice.
 */
function leaveServer(url: string | undefined): void {
  const now = performance.now();
  if (now - (leftAt.get(url) ?? -Infinity) < LEAVE_INTERVAL) return;
  leftAt.set(url, now);
  const error = Object.assign(new Error('The database has become read-only'), { code: '25006' });
  for (const connection of connections)
    if (connection.config.connectionString === url) connection.leave(error);
}

function watch(): void {
  const now = performance.now();
  const silent = [...connections].filter((connection) => connection.watch(now));
  for (const url of new Set(silent.map(({ config }) => config.connectionString))) {
    if (asked.has(url)) continue;
    asked.add(url);
    const ofServer = [...connections].filter(({ config }) => config.connectionString === url);
    const suspects = ofServer.filter((connection) => silent.includes(connection));
    const others = ofServer.filter((connection) => !silent.includes(connection));
    void examine(suspects, others).finally(() => asked.delete(url));
  }
}

async function examine(silent: readonly Client[], others: readonly Client[]): Promise<void> {
  const ends = silent.map((connection) => [backendOf(connection), connection.examine()] as const);
  // The others may have fallen silent, too.
  for (const connection of others) connection.probe(performance.now() - WATCH_INTERVAL);
  const probes = others
    .filter(({ isBeingProbed }) => isBeingProbed)
    .map((connection) => connection.examine());
  const running = await runningBackends((silent[0] as Client).config);
  await pause(UNDER_WAY);
  const closed = ends.filter(([backend, end]) => end(running?.has(backend)));
  for (const end of probes) end(closed.length === 0);
}

/** Returns whether the database did not respond a moment ago, so that whatever waits for it does not wait for slow queries. */
export function isDatabaseSilent(url: string): boolean {
  return performance.now() - (silentAt.get(url) ?? -Infinity) < SILENT_FOR;
}

/** Returns the backends that run a statement: none if the server cannot be reached, and undefined if it cannot be known. */
async function runningBackends(config: pg.ClientConfig): Promise<ReadonlySet<number> | undefined> {
  const client = new Client({
    ...config,
    stream: undefined,
    application_name: 'merchant-connectivity-service watch',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    query_timeout: QUESTION_TIMEOUT,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number; own: number }>(
      `SELECT pid, pg_backend_pid() AS own FROM pg_stat_activity WHERE state = 'active'`,
    );
    // The question itself runs. A pooler gives its clients other numbers.
    return rows[0]?.own === backendOf(client) ? new Set(rows.map(({ pid }) => pid)) : undefined;
  } catch (error) {
    return isUnreachable(error) ? new Set() : undefined;
  } finally {
    void client.end();
  }
}
