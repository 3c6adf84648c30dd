import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import { createExpressServer, stopListening } from './express-server.js';

const agent = new Agent({ keepAlive: true });
afterEach(() => agent.destroy());

async function listening(server: Server): Promise<Server> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** Sends a request on a connection that stays open. */
async function send(server: Server): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(get({ port, host: '127.0.0.1', agent }), 'response')) as [IncomingMessage];
  await text(response);
  return response;
}

/** Returns whether a request and its response have the same prototypes before and after Express. */
async function keepsPrototypes(create: (application: express.Express) => Server): Promise<boolean> {
  const application = express().use((_request, response) => void response.end());
  const server = create(application);
  const seen: [object, unknown][] = [];
  server.prependListener('request', (...objects) => {
    for (const each of objects) seen.push([each, Object.getPrototypeOf(each)]);
  });
  await send(await listening(server));
  server.close();
  return (
    seen.length === 2 && seen.every(([object, prototype]) => Object.getPrototypeOf(object) === prototype)
  );
}

describe('createExpressServer', () => {
  it('creates requests and responses whose prototypes Express does not change', async () => {
    expect(await keepsPrototypes((application) => createExpressServer(application, application, {}))).toBe(
      true,
    );
  });

  it('is needed as long as Express changes the prototypes of other requests', async () => {
    expect(await keepsPrototypes((application) => createServer(application))).toBe(false);
  });
});

describe('stopListening', () => {
  /** Returns whether a server that stopped listening responds on a connection that was idle meanwhile. */
  async function survives(stop: (server: Server) => unknown): Promise<boolean> {
    const server = await listening(createServer((_request, response) => void response.end()));
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    const isAnswered = (): Promise<boolean> =>
      new Promise((resolve) => {
        if (!socket.writable) return resolve(false);
        socket.once('data', () => resolve(true)).once('close', () => resolve(false));
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      });
    expect(await isAnswered()).toBe(true);
    void stop(server);
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    const isStillAnswered = await isAnswered();
    socket.destroy();
    return isStillAnswered;
  }

  it('leaves idle connections open', async () => {
    expect(await survives(stopListening)).toBe(true);
  });

  it('is needed as long as close() closes idle connections', async () => {
    expect(await survives((server) => server.close())).toBe(false);
  });
});
