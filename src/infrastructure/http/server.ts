import type { NestExpressApplication } from '@nestjs/platform-express';
import { AllowedOrigins } from './allowed-origins.js';
import { handleClientErrors } from './client-errors.js';
import { acceptConnectorPath } from './connector-path.js';
import { crossOriginRequests } from './cross-origin-requests.js';
import { HttpConfiguration } from './http.configuration.js';
import { protectiveHeaders } from './protective-headers.js';
import { RequestLifecycle } from './request-lifecycle.js';
import { RouteTable } from './route-table.js';
import { validateRequest } from './validate-request.middleware.js';

/** Milliseconds for the headers and for the whole request. Checked every second (`HttpAdapter`). */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 30_000;
/** Longer than the idle timeout of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT = 65_000;
/** Milliseconds without any traffic during a request, after which the connection is closed. */
const STALLED_TIMEOUT = 60_000;

/** Configures Express and the server of an HTTP process. */
export function prepareHttpServer(app: NestExpressApplication): void {
  const { trustedProxyHops } = app.get(HttpConfiguration);
  app.disable('x-powered-by');
  // Conditional requests save nothing for responses of this API, and tokens must not have an ETag.
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', trustedProxyHops);
  app.use(app.get(RequestLifecycle).middleware);
  app.use(acceptConnectorPath);
  app.use(protectiveHeaders(trustedProxyHops > 0));
  app.use(validateRequest);
  app.use(crossOriginRequests(app.get(AllowedOrigins).all));
  app.use(app.get(RouteTable).middleware);

  const server = app.getHttpServer();
  server.headersTimeout = HEADERS_TIMEOUT;
  server.requestTimeout = REQUEST_TIMEOUT;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  server.timeout = STALLED_TIMEOUT;
  handleClientErrors(server);
}
