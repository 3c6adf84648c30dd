import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import express, { type Express, type Response } from 'express';
import { createExpressServer } from '../framework-patches/index.js';
import { SECOND } from '../time/index.js';
import { handleClientErrors, serializeRequests } from './connections.js';
import { HttpConfiguration } from './http.configuration.js';
import { requestContext } from './request-context.js';
import { routesBySegment } from './routes-by-segment.js';

/**
 * Milliseconds between checks of the time limits. With Node.js's default of 30 s, the limit of 10 s for headers could
 * become 40 s.
 */
const CONNECTION_CHECK_INTERVAL = 1_000;
/** Milliseconds for the headers and for the whole request.  */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 30_000;
/** Milliseconds without any traffic during a request, after which the connection is closed. */
const STALLED_TIMEOUT = 60_000;

/**
 * Nest's Express adapter on a server of `createExpressServer`.
 *
 * Ignores Nest's server options (`httpsOptions`, `forceCloseConnections`), which the service does not use.
 */
export class HttpAdapter extends ExpressAdapter {
  constructor() {
    // Paths match exactly, in case and without a trailing slash. Express reads these settings once, when Nest adds its
    // first middleware.
    super(routesBySegment(express().enable('case sensitive routing').enable('strict routing')));
  }

  /**
   * Writes the request log entry before the response of a handler is sent. `ExceptionFilter` does the same for errors, so that
   * together they see every response that belongs to an API client. A response waits at most 250 ms for the entry.
   */
  override async reply(response: Response, body: unknown, statusCode?: number): Promise<unknown> {
    await requestContext(response.req).recordNow();
    return super.reply(response, body, statusCode) as unknown;
  }

  override initHttpServer(): void {
    const application = this.getInstance<Express>();
    const listener = serializeRequests(application);
    const options = {
      // `validateRequest` responds instead, with the error body of the API and a request ID.
      requireHostHeader: false,
      connectionsCheckingInterval: CONNECTION_CHECK_INTERVAL,
    };
    this.httpServer = createExpressServer(application, listener, options)
      // Node.js would respond to an unknown expectation itself. The service ignores it (RFC 9110, section 10.1.1).
      .on('checkExpectation', listener)
      // `BodyReader` asks for the body when it is needed.
      .on('checkContinue', listener);
  }
}

/** Configures Express and the server of an HTTP process. Its middleware is that of `HttpModule`. */
export function prepareHttpServer(app: NestExpressApplication): void {
  app.disable('x-powered-by');
  // Conditional requests save nothing for responses of this API, and tokens must not have an ETag.
  app.disable('etag');
  app.set('query parser', 'simple');
  const { trustedProxyHops, keepAliveSeconds } = app.get(HttpConfiguration);
  app.set('trust proxy', trustedProxyHops);

  const server = app.getHttpServer();
  server.headersTimeout = HEADERS_TIMEOUT;
  server.requestTimeout = REQUEST_TIMEOUT;
  server.keepAliveTimeout = keepAliveSeconds * SECOND;
  server.timeout = STALLED_TIMEOUT;
  handleClientErrors(server);
}
