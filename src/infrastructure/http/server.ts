import type { NestExpressApplication } from '@nestjs/platform-express';
import { HttpConfiguration } from './http.configuration.js';
import { protectiveHeaders } from './protective-headers.js';
import { requireHost } from './require-host.js';
import { ResponseEnd } from './response-end.js';
import { handleUnparsableRequests } from './unparsable-request.js';

/**
 * Milliseconds within which the headers of a request and the whole of it must have arrived. A caller that takes
 * longer is not one of ours; it is noticed a second later at most (`HttpAdapter`).
 */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 30_000;
/** Longer than the idle time of the usual load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT = 65_000;
/** A caller that takes nothing of its answers for so long, and sends nothing either, is not there any more. */
const STALLED_TIMEOUT = 60_000;

/** What every HTTP process of this service has in common, apart from its routes. */
export function prepareHttpServer(app: NestExpressApplication): void {
  const { trustedProxyHops } = app.get(HttpConfiguration);
  app.disable('x-powered-by');
  // No answer of the API is worth a conditional request, and tokens must not be tagged at all.
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', trustedProxyHops);
  app.use(app.get(ResponseEnd).middleware);
  app.use(protectiveHeaders(trustedProxyHops > 0));
  app.use(requireHost);

  const server = app.getHttpServer();
  server.headersTimeout = HEADERS_TIMEOUT;
  server.requestTimeout = REQUEST_TIMEOUT;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  server.timeout = STALLED_TIMEOUT;
  handleUnparsableRequests(server);
}
