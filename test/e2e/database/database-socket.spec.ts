import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../../src/infrastructure/database/index.js';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.js';
import { eventually } from '../../support/eventually.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const folder = mkdtempSync(join(tmpdir(), 'socket-'));
const sockets = new Set<Socket>();
let database: TestDatabase;
let service: TestApp;
let server: Server;

async function listen(): Promise<Server> {
  const { hostname, port } = new URL(database.url);
  const listening = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const each of [client, upstream]) sockets.add(each.on('error', () => undefined));
    client.pipe(upstream).pipe(client);
  }).listen(join(folder, '.s.PGSQL.5432'));
  await once(listening, 'listening');
  return listening;
}

beforeAll(async () => {
  database = await cloneDatabase();
  server = await listen();
  const { username, password, pathname } = new URL(database.url);
  const url = `postgres://${username}:${password}@${pathname}?host=${folder}`;
  await migrate(url);
  service = await startTestApp({ DATABASE_URL: url });
});
afterAll(async () => {
  await service.close();
  server.close();
  for (const socket of sockets) socket.destroy();
  await database.drop();
});

describe('A database behind a Unix-domain socket', () => {
  const create = async (): Promise<[number, string | null]> => {
    const request = { as: service.development, body: { external_user_id: 'user-1' } };
    const { status, headers } = await service.request('/mcp/tokens/create', request);
    return [status, headers.get('retry-after')];
  };

  it('is used, and counts as unavailable while the socket is missing', async () => {
    expect(await create()).toEqual([200, null]);
    server.close();
    for (const socket of sockets) socket.destroy();
    await eventually('the socket is gone', async () => (await create())[0] !== 200);
    expect(await create()).toEqual([503, expect.stringMatching(/^\d+$/)]);
    server = await listen();
    await eventually('the service has recovered', async () => (await create())[0] === 200);
  });
});
