import { once } from 'node:events';
import { createServer, request as send, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fault of a proxy that does not pass a request on: a status with a page of its own, or a reset. */
export type ProxyFailure = 'reset' | 502 | 504;

/** A reverse proxy in front of a service. */
export interface FlakyProxy {
  readonly url: string;
  /** The requests that arrived, also those that were not passed on. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  close(): void;
}

/** @param fail decides by the number of the request, from 1, and its path */
export async function startFlakyProxy(
  target: string,
  fail: (number: number, path: string) => ProxyFailure | undefined,
): Promise<FlakyProxy> {
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const { url: path = '', method, headers } = request;
    const failure = fail(requests.push({ path, headers }), path);
    if (failure === 'reset') return void request.socket.resetAndDestroy();
    if (failure !== undefined) {
      request.resume();
      response.writeHead(failure, { 'content-type': 'text/html', server: 'proxy' });
      return void response.end('<html><h1>Bad Gateway</h1></html>');
    }
    const passed = send(target + path, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
