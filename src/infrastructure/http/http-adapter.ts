import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { serializeRequests } from './serialize-requests.js';

/** Milliseconds. The default of Node.js is 30 s, which would turn the limit of 10 s for headers into 40 s. */
const CONNECTION_CHECK_INTERVAL = 1_000;

/**
 * Nest's Express adapter on a server that creates requests and responses with Express's prototypes.
 *
 * Express normally changes the prototype of every request and response. V8 then shares no hidden class between
 * them, which costs a third to half of the CPU time of a request: docs/decisions/0007-requests-born-as-express.md.
 *
 * Ignores Nest's server options (`httpsOptions`, `forceCloseConnections`), which the service does not use.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    class ExpressRequest extends IncomingMessage {}
    class ExpressResponse extends ServerResponse {}
    // Express sets these prototypes on every request and response. They have them already, so nothing changes.
    express.request = Object.setPrototypeOf(ExpressRequest.prototype, express.request);
    express.response = Object.setPrototypeOf(ExpressResponse.prototype, express.response);
    const listener = serializeRequests(express);
    const options = {
      IncomingMessage: ExpressRequest,
      ServerResponse: ExpressResponse,
      // `requireHost` responds instead, with the error body of the API and a request ID.
      requireHostHeader: false,
      connectionsCheckingInterval: CONNECTION_CHECK_INTERVAL,
    };
    // For the same reason, unknown expectations are ignored (RFC 9110, section 10.1.1).
    this.httpServer = createServer(options, listener).on('checkExpectation', listener);
  }
}
