import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '../eventually.js';
import { Program } from './program.js';
import type { TestApp } from '../test-app.js';

/** The process dies before PostgreSQL gets a statement, or after PostgreSQL has run it and before the response. */
export type Moment = 'before' | 'after';
export const MOMENTS: readonly Moment[] = ['before', 'after'];

const WRITES = ['INSERT INTO', 'UPDATE '];

/** Lies between a process and PostgreSQL, and holds back a statement, or the response to it. */
class StatementHolder {
  moment: Moment | undefined;
  private seen = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => {
    const { hostname, port } = new URL(this.databaseUrl);
    const postgres = connect(Number(port), hostname);
    let isHeld = false;
    let hasWritten = false;
    client.on('data', (bytes: Buffer) => {
      if (bytes.includes('START TRANSACTION')) hasWritten = false;
      if (WRITES.some((word) => bytes.includes(word))) hasWritten = true;
      const next = this.statements[this.seen];
      // The process also rotates partitions when it starts, in transactions that insert and update nothing.
      const isOfRequest = next !== 'COMMIT' || hasWritten;
      if (this.moment !== undefined && next !== undefined && isOfRequest && bytes.includes(next)) {
        this.seen += 1;
        isHeld = this.hasHeld;
        if (isHeld && this.moment === 'before') return;
      }
      postgres.write(bytes);
    });
    postgres.on('data', (bytes: Buffer) => {
      if (!isHeld) client.write(bytes);
    });
    for (const socket of [client, postgres]) {
      this.sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => [client, postgres].forEach((each) => each.destroy()));
    }
  });

  /** @param statements beginnings of statements, of which the last one is held back once the others were seen */
  constructor(
    private readonly databaseUrl: string,
    private readonly statements: readonly string[],
  ) {}

  get hasHeld(): boolean {
    return this.seen === this.statements.length;
  }

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const url = new URL(this.databaseUrl);
    url.port = String((this.server.address() as AddressInfo).port);
    url.hostname = '127.0.0.1';
    return url.href;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

/**
 * Sends a request to a process of its own, which is killed at that moment.
 *
 * @param options.environment that of the service
 * @param options.statements see `StatementHolder`: by default, the next COMMIT of a transaction that writes
 */
export async function killedDuring(
  service: TestApp,
  send: (baseUrl: string) => Promise<unknown>,
  {
    moment,
    environment,
    statements = ['COMMIT'],
  }: {
    readonly moment: Moment;
    readonly environment: Readonly<Record<string, string>>;
    readonly statements?: readonly string[];
  },
): Promise<void> {
  const holder = new StatementHolder(service.database.url, statements);
  const program = new Program('main.js', {
    environment: {
      ...environment,
      DATABASE_URL: await holder.start(),
      DATA_DIR: service.dataDirectory,
      PORT: '0',
      BACKGROUND_WORK: 'off',
    },
  });
  const [, port = ''] = await program.waitForOutput(/Listening on http:\/\/[\w.]+:(\d+)/);
  holder.moment = moment;
  const lost = send(`http://127.0.0.1:${port}`).catch(() => 'lost');
  await eventually('the process sends the statement', () => holder.hasHeld || undefined);
  program.signal('SIGKILL');
  expect(await lost).toBe('lost');
  await program.ended;
  holder.close();
  // PostgreSQL ends an open transaction when it notices that its client is gone.
  await eventually('no transaction of the process is open', async () => {
    const open = await service.database.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    return open.length === 0 || undefined;
  });
}
