import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';

/** A request as a receiver got it. */
export interface Arrival {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly event: Readonly<Record<string, unknown>>;
  /** `performance.now()`. */
  readonly at: number;
}

/** A local server that gets webhooks. */
export interface WebhookReceiver {
  readonly url: string;
  readonly arrivals: Arrival[];
  /** Decides the next answers: a status, or whatever one does with a response. */
  answer: number | ((response: ServerResponse, arrival: Arrival) => void);
  /** Waits for so many requests to the path. */
  arrived(count: number, path?: string): Promise<Arrival[]>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const arrival: Arrival = {
        path: request.url ?? '',
        method: request.method ?? '',
        headers: request.headers,
        body,
        event: JSON.parse(body.toString()) as Record<string, unknown>,
        at: performance.now(),
      };
      receiver.arrivals.push(arrival);
      if (typeof receiver.answer === 'number') response.writeHead(receiver.answer).end();
      else receiver.answer(response, arrival);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}`,
    arrivals: [],
    answer: 200,
    async arrived(count, path) {
      const matching = () =>
        receiver.arrivals.filter((arrival) => path === undefined || arrival.path === path);
      await eventually(
        `${count} webhooks arrive at ${path ?? 'the receiver'}`,
        () => matching().length >= count,
      );
      return matching();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
