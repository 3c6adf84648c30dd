import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { createRequestClass, createResponseClass } from '../framework-patches/index.js';
import { SECOND } from '../time/index.js';
import { availableAddress, listenProblem } from '../config/index.js';
import { Metrics } from './metrics.js';
import { MetricsConfiguration } from './metrics.configuration.js';

const PATH = '/metrics';
/** Shows that the process is not blocked. It reads nothing, so that a slow database restarts no worker. */
const LIVENESS_PATH = '/healthz';
/** Milliseconds. */
const REQUEST_TIMEOUT = 10 * SECOND;

/**
 * Serves `GET /metrics` on a separate port, because metrics are for operators only and must be available when the
 * API is overloaded. Workers have no other port, so this one also serves a liveness check.
 */
@Injectable()
export class MetricsServer implements OnApplicationShutdown {
  private readonly logger = new Logger('Metrics');
  private server: Server | undefined;

  constructor(
    private readonly configuration: MetricsConfiguration,
    private readonly metrics: Metrics,
  ) {}

  /** Called by long-running processes only, not by commands. @returns the URL, or undefined if no port is configured */
  async listen(): Promise<string | undefined> {
    const { port } = this.configuration;
    if (port === undefined) return undefined;
    const host = await availableAddress(this.configuration.host, 'METRICS_HOST');
    this.metrics.includeProcess();
    const options = {
      requestTimeout: REQUEST_TIMEOUT,
      IncomingMessage: createRequestClass(),
      ServerResponse: createResponseClass(),
    };
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      this.handle(request, response).catch((error: unknown) => {
        this.logger.error('The metrics could not be read', error);
        respond(response, 500, 'The metrics could not be read.\n');
      });
    };
    // Bodies are never read, so nobody is asked to send one.
    this.server = createServer(options, listener).on('checkContinue', listener);
    this.server.listen(port, host);
    try {
      await once(this.server, 'listening');
    } catch (error) {
      throw listenProblem(error, { host, port, prefix: 'METRICS_' });
    }
    const { address, port: actualPort, family } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}${PATH}`;
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.server?.listening) return;
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '').split('?');
    if (path !== PATH && path !== LIVENESS_PATH)
      return respond(response, 404, `Only ${PATH} and ${LIVENESS_PATH} are served here.\n`);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return respond(response, 405, 'Only GET and HEAD are allowed.\n');
    }
    if (path === LIVENESS_PATH) return respond(response, 200, 'ok\n');
    respond(response, 200, await this.metrics.text(), this.metrics.contentType);
  }
}

function respond(response: ServerResponse, status: number, text: string, contentType = 'text/plain'): void {
  response.statusCode = status;
  response.setHeader('Content-Type', contentType).end(text);
}
