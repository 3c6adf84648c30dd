import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Global, Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { listenProblem } from '../errors/index.js';
import { createRequestClass, createResponseClass } from '../http-bodies/index.js';
import { SECOND } from '../time/index.js';
import { Configuration, EnvironmentVariable, IsIntegerBetween, IsListenAddress } from '../config/index.js';
import { Metrics } from './metrics.js';

@Configuration('Metrics')
export class MetricsConfiguration {
  @EnvironmentVariable(
    'METRICS_PORT',
    'TCP port for `/metrics`, separate from the API. 0 selects a free port. Without it, metrics are disabled.',
  )
  @IsIntegerBetween(0, 65_535)
  port?: number;

  @EnvironmentVariable(
    'METRICS_HOST',
    'Address for `/metrics`, which requires no credentials. Choose an address that only Prometheus can reach.',
  )
  @IsListenAddress()
  host: string = '127.0.0.1';
}

const PATH = '/metrics';
/** Milliseconds. */
const REQUEST_TIMEOUT = 10 * SECOND;

/**
 * Serves `GET /metrics` on a separate port, because metrics are for operators only and must be available when the
 * API is overloaded.
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
    const { host, port } = this.configuration;
    if (port === undefined) return undefined;
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
    if (path !== PATH) return respond(response, 404, `Only ${PATH} is served here.\n`);
    if (request.method !== 'GET') {
      response.setHeader('Allow', 'GET');
      return respond(response, 405, 'Only GET is allowed.\n');
    }
    respond(response, 200, await this.metrics.text(), this.metrics.contentType);
  }
}

function respond(response: ServerResponse, status: number, text: string, contentType = 'text/plain'): void {
  response.statusCode = status;
  response.setHeader('Content-Type', contentType).end(text);
}

@Global()
@Module({ providers: [Metrics, MetricsServer], exports: [Metrics, MetricsServer] })
export class MetricsModule {}
