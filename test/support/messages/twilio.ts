import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { RECEIVER_CERTIFICATES, RECEIVER_KEY } from '../webhooks/receiver-certificates.js';

/** A server that behaves like Twilio, and records the messages. */
export class Twilio {
  readonly requests: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  status = 201;
  code = 20003;
  private readonly server: Server;

  /** @param tls whether the server has the certificate of a host name below `example.com` */
  constructor({ tls = false } = {}) {
    const listener: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const body = Buffer.concat(chunks).toString();
        this.requests.push({ method, url, headers, body });
        const to = new URLSearchParams(body).get('To');
        response.writeHead(this.status, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            code: this.code,
            message: `The 'To' number ${to} is not valid`,
            status: this.status,
          }),
        );
      });
    };
    this.server = tls
      ? createTlsServer({ key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATES.trusted }, listener)
      : createServer(listener);
  }

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Returns the texts that were sent to a phone number. */
  messagesTo(phoneNumber: string): string[] {
    return this.requests
      .map(({ body }) => new URLSearchParams(body))
      .filter((message) => message.get('To') === phoneNumber)
      .map((message) => message.get('Body') ?? '');
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
