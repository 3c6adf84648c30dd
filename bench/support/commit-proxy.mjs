import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * Starts a proxy between the coordinator of a cluster and a worker, which can break a connection at a step of the two-phase
 * commit. The connections must not be encrypted.
 */
export async function startCommitProxy(port) {
  const proxy = { port: 0, fault: undefined, injected: 0, close: () => undefined };
  const sockets = new Set();
  const server = createServer((client) => {
    const worker = connect(port, '127.0.0.1');
    const cut = () => {
      client.destroy();
      worker.destroy();
    };
    for (const socket of [client, worker]) {
      sockets.add(socket);
      socket.on('error', cut).on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    let cutAtResponse = false;
    client.on('data', (bytes) => {
      const { command, when, share } = proxy.fault ?? {};
      if (command !== undefined && bytes.includes(command) && Math.random() < share) {
        proxy.injected += 1;
        if (when === 'before') return cut();
        cutAtResponse = true;
      }
      worker.write(bytes);
    });
    worker.on('data', (bytes) => (cutAtResponse ? cut() : client.write(bytes)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.port = server.address().port;
  proxy.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return proxy;
}
