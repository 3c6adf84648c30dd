import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Express } from 'express';
import { createRequestClass } from './request-class.js';
import { createResponseClass } from './response-class.js';

/**
 * Written for Express 5.3.0. Evidence: docs/decisions/0007-requests-born-as-express.md.
 *
 * Creates a server whose requests and responses have the prototypes of Express from the start. Express changes the prototype of
 * every request and response. V8 then shares no hidden class between them, which costs a third to half of the CPU time of a
 * request. The options `IncomingMessage` and `ServerResponse` are those of Node.js; `application.request` and
 * `application.response` are what Express sets as prototypes.
 */
export function createExpressServer(
  application: Express,
  listener: RequestListener,
  options: ServerOptions,
): Server {
  const ExpressRequest = createRequestClass();
  const ExpressResponse = createResponseClass();
  // Express sets these prototypes on every request and response, which already have them.
  application.request = Object.setPrototypeOf(ExpressRequest.prototype, application.request);
  application.response = Object.setPrototypeOf(ExpressResponse.prototype, application.response);
  return createServer(
    { ...options, IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse },
    listener,
  );
}

/**
 * Written for Node.js 20 to 24. Evidence: docs/decisions/0031-frameworks.md.
 *
 * Closes the port of a server, and waits until its last connection has ended. `close()` of HTTP servers also closes idle connections
 * at once, on which a proxy may be sending a request.
 */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}
