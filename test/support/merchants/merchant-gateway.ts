import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startGateway, type ExampleGateway } from '../../../examples/merchant-gateway/server.mjs';
import { rememberSecret } from '../runner/run-directory.js';

/** The fault of a gateway that does not respond properly. `down` refuses connections. */
export type Fault = 'hang' | 'error' | 'garbage' | 'huge' | 'reset' | 'down';

const HUGE = JSON.stringify({ outcome: 'succeeded', padding: 'x'.repeat(10 * 1024 * 1024) });

/** The gateway of `examples/merchant-gateway`, behind a proxy that can misbehave and that keeps the bodies. */
export class TestGateway {
  /** Replaces the response of the example for `GET /keys`. */
  keys: object | undefined;
  /** Changes the keys in the response of the example for `GET /keys`. */
  changeKey: (key: object) => object = (key) => key;
  /** Called after the example has responded, before the response is passed on. */
  beforeResponse: (path: string) => Promise<void> = () => Promise.resolve();
  /** Replaces the status of the example for `DELETE /sign-ins/{sign_in_id}`. */
  undoStatus: number | undefined;
  readonly requests: { readonly method: string; readonly path: string; readonly body: string }[] = [];

  private fault: Fault | undefined;
  private readonly port: number;

  private constructor(
    readonly secret: string,
    readonly example: ExampleGateway,
    private readonly proxy: Server,
  ) {
    this.port = (proxy.address() as AddressInfo).port;
    proxy.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.respond(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<TestGateway> {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    rememberSecret(secret);
    const proxy = createServer();
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return new TestGateway(secret, await startGateway({ secret }), proxy);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The settings of a service that uses this gateway. */
  get environment(): Record<string, string> {
    return { MERCHANT_GATEWAY_URL: this.url, MERCHANT_GATEWAY_SECRET: this.secret };
  }

  async fail(fault: Fault): Promise<void> {
    this.fault = fault;
    if (fault !== 'down') return;
    this.proxy.closeAllConnections();
    await new Promise((resolve) => this.proxy.close(resolve));
  }

  /** Ends a fault, and everything else that a test has changed. */
  async reset(): Promise<void> {
    if (!this.proxy.listening)
      await new Promise<void>((resolve) => this.proxy.listen(this.port, '127.0.0.1', resolve));
    this.fault = undefined;
    this.keys = undefined;
    this.undoStatus = undefined;
    this.changeKey = (key) => key;
    this.beforeResponse = () => Promise.resolve();
    this.requests.length = 0;
  }

  requestsTo(method: string, path: string): number {
    return this.requests.filter((request) => request.method === method && request.path === path).length;
  }

  close(): void {
    this.example.close();
    this.proxy.closeAllConnections();
    this.proxy.close();
  }

  private changed(response: string): string {
    const { keys } = JSON.parse(response) as { keys: object[] };
    return JSON.stringify({ keys: keys.map((key) => this.changeKey(key)) });
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    this.requests.push({ method, path: url, body: body.toString() });
    if (this.fault === 'hang') return;
    if (this.fault === 'reset') response.destroy();
    else if (this.fault === 'error') response.writeHead(500).end('oops');
    else if (this.fault === 'garbage') response.writeHead(200).end('{"outcome":"succeeded?"');
    else if (this.fault === 'huge') response.writeHead(200).end(HUGE);
    // As Fastify does, for example.
    else if (body.length === 0 && headers['content-type'] === 'application/json')
      response.writeHead(400).end('{"code":"FST_ERR_CTP_EMPTY_JSON_BODY"}');
    else if (this.keys && url === '/keys') response.writeHead(200).end(JSON.stringify(this.keys));
    else {
      const forwarded = await fetch(`${this.example.url}${url}`, {
        method,
        headers: Object.fromEntries(
          ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
            name,
            String(headers[name]),
          ]),
        ),
        ...(body.length > 0 && { body }),
      });
      const text = await forwarded.text();
      await this.beforeResponse(url);
      const status = method === 'DELETE' ? (this.undoStatus ?? forwarded.status) : forwarded.status;
      response.writeHead(status).end(url === '/keys' ? this.changed(text) : text);
    }
  }
}
