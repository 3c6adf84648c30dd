import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { SECOND } from '../time/index.js';
import { MetricsConfiguration } from './metrics.configuration.js';
import { MetricsStartError } from './metrics-start.error.js';
import { Metrics } from './metrics.js';

const PATH = '/metrics';
/** Milliseconds. */
const REQUEST_TIMEOUT = 10 * SECOND;

/**
 * Answers `GET /metrics` and nothing else, on a port of its own: what it tells is for operators, and a service that
 * is too busy to serve the API must still be able to say so.
 */
@Injectable()
export class MetricsServer implements OnApplicationShutdown {
  private readonly logger = new Logger('Metrics');
  private server: Server | undefined;

  constructor(
    private readonly configuration: MetricsConfiguration,
    private readonly metrics: Metrics,
  ) {}

  /**
   * For the programs that go on: commands that end after a moment have nobody who would ask.
   *
   * @returns where it is met, undefined when no port is configured
   */
  async listen(): Promise<string | undefined> {
    const { host, port } = this.configuration;
    if (port === undefined) return undefined;
    this.metrics.includeProcess();
    this.server = createServer({ requestTimeout: REQUEST_TIMEOUT }, (request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.logger.error('The metrics could not be told', error);
        respond(response, 500, 'The metrics could not be told.\n');
      });
    });
    this.server.listen(port, host);
    try {
      await once(this.server, 'listening');
    } catch (error) {
      throw new MetricsStartError(error, host, port);
    }
    const { address, port: taken, family } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${PATH}`;
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.server?.listening) return;
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '').split('?');
    if (path !== PATH) return respond(response, 404, `Only ${PATH} is here.\n`);
    if (request.method !== 'GET') {
      response.setHeader('Allow', 'GET');
      return respond(response, 405, 'Only GET is answered.\n');
    }
    respond(response, 200, await this.metrics.text(), this.metrics.contentType);
  }
}

function respond(response: ServerResponse, status: number, text: string, contentType = 'text/plain'): void {
  response.writeHead(status, { 'Content-Type': contentType }).end(text);
}
