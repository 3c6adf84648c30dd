import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { eventually } from '../support/eventually.js';
import { useIdempotentOperations } from '../support/documents/idempotent-operations.js';
import { Program } from '../support/programs/program.js';
import { basic, newKeys, useTestApp } from '../support/test-app.js';

/** The same in each process that uses the database. */
const KEYS = newKeys();
const service = useTestApp({ ...KEYS, MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000' });
const { OPERATIONS, send, numberOf } = useIdempotentOperations(service);
afterEach(() => Program.endAll());

describe.each(OPERATIONS)('An Idempotency-Key with POST $path', (operation) => {
  const { table } = operation;

  it('loses nothing when the process is killed before the commit', async () => {
    const [key, body] = [randomUUID(), operation.newBody()];
    const before = await numberOf(table);
    const program = new Program('main.js', {
      environment: {
        ...KEYS,
        DATABASE_URL: service.database.url,
        DATA_DIR: service.dataDirectory,
        PORT: '0',
      },
    });
    const [, port = ''] = await program.waitForOutput(/Listening on http:\/\/[\w.]+:(\d+)/);
    const blocker = new pg.Client({ connectionString: service.database.url });
    await blocker.connect();
    try {
      // The operation has been performed when its response is stored.
      await blocker.query('BEGIN; LOCK TABLE idempotency_key IN SHARE MODE');
      const { as, login } = operation.credentials();
      const lost = fetch(`http://127.0.0.1:${port}${operation.path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(as && { authorization: basic(as) }),
          ...(login && { cookie: login.cookie }),
        },
        body: JSON.stringify(body),
      }).catch(() => 'lost');
      await eventually('the response is being stored', async () => {
        const [row] = await service.database.query(
          `SELECT FROM pg_locks WHERE relation = 'idempotency_key'::regclass AND NOT granted`,
        );
        return row;
      });
      program.signal('SIGKILL');
      await program.ended;
      expect(await lost).toBe('lost');
      // PostgreSQL notices only after the statement that the client has gone.
      await service.database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'idempotency_key'::regclass AND NOT granted`,
      );
    } finally {
      await blocker.end();
    }
    const retry = await eventually('the lock of the killed process is released', async () => {
      const response = await send(operation, key, body);
      return response.status === 409 ? undefined : response;
    });
    expect(retry.status).toBe(200);
    expect(await numberOf(table)).toBe(before + 1);
    expect((await send(operation, key, body)).body).toEqual(retry.body);
  }, 60_000);
});
