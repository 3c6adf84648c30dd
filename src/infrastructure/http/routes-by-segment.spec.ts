import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { routesBySegment } from './routes-by-segment.js';

let server: Server;
afterEach(() => server.close());

type Routes = (application: express.Express) => void;

/** Returns the responses of the same application without and with `routesBySegment`, which must be the same. */
async function responsesOf(routes: Routes, method: string, path: string): Promise<[unknown, unknown]> {
  const [plain, bySegment] = [
    await responseOf((app) => app, routes, method, path),
    await responseOf(routesBySegment, routes, method, path),
  ];
  return [plain, bySegment];
}

async function responseOf(
  wrap: typeof routesBySegment,
  routes: Routes,
  method: string,
  path: string,
): Promise<unknown> {
  const application = wrap(express().enable('case sensitive routing').enable('strict routing'));
  application.use((_request, response, next) => {
    response.setHeader('middleware', 'yes');
    next();
  });
  routes(application);
  application.use((request, response) => void response.status(404).json({ notFound: request.url }));
  application.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
    response.status(500).json({ error: error.message });
  });
  server = createServer(application);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  const body = await response.text();
  server.close();
  return {
    status: response.status,
    allow: response.headers.get('allow'),
    middleware: response.headers.get('middleware'),
    body,
  };
}

const show = (request: Request, response: Response): void => {
  const { url, baseUrl, originalUrl, path, params, route } = request;
  response.json({ url, baseUrl, originalUrl, path, params, route: (route as { path: string }).path });
};

const ROUTES: Routes = (application) => {
  application.get('/users', show);
  application.post('/users/create', show);
  application.get('/users/:id', show);
  application.all('/mcp', show);
  application.get('/mcp/:client/*rest', show);
  application.get('/.well-known/jwks.json', show);
  application.get('/failing', () => {
    throw new Error('failed');
  });
  application.get('/later', (_request, _response, next) => next(new Error('failed later')));
  application.get('/two', (_request, _response, next) => next());
  application.get('/two', show);
  application.get('/', show);
  application.get('/:any/of-all', show);
};

describe('routesBySegment', () => {
  it.each([
    ['GET', '/users', 200],
    ['GET', '/users?limit=1', 200],
    ['HEAD', '/users', 200],
    ['GET', '/users/create', 200],
    ['POST', '/users/create', 200],
    ['GET', '/users/a%20b', 200],
    ['DELETE', '/mcp', 200],
    ['OPTIONS', '/mcp', 200],
    ['GET', '/mcp/a/b/c', 200],
    ['GET', '/.well-known/jwks.json', 200],
    ['GET', '/two', 200],
    ['GET', '/', 200],
    ['GET', '/users/of-all', 200],
    ['GET', '/nothing/of-all', 200],
    ['GET', '/Users', 404],
    ['GET', '/users/', 404],
    ['GET', '/usersx', 404],
    ['POST', '/users', 404],
    ['OPTIONS', '/users', 404],
    ['GET', '/nothing', 404],
    ['GET', '/%75sers', 404],
    ['GET', '/__proto__', 404],
    ['GET', '/failing', 500],
    ['GET', '/later', 500],
    ['GET', '/users/%ff', 500],
  ])('responds to %s %s as Express does', async (method, path, status) => {
    const [plain, bySegment] = await responsesOf(ROUTES, method, path);
    expect(bySegment).toEqual(plain);
    expect(bySegment).toMatchObject({ status, middleware: 'yes' });
  });

  it('leaves no route with a literal first segment to the application, which tries one after the other', () => {
    const routesIn = (wrap: typeof routesBySegment): unknown[] => {
      const application = wrap(express());
      ROUTES(application);
      return application.router.stack.flatMap(({ route }) => (route ? [route.path] : []));
    };
    expect(routesIn((application) => application)).toHaveLength(12);
    expect(routesIn(routesBySegment)).toEqual(['/', '/:any/of-all']);
  });

  it('refuses routes that would not be found', async () => {
    let application: express.Express | undefined;
    await responseOf((plain) => (application = routesBySegment(plain)), ROUTES, 'GET', '/users');
    expect(() => application?.get('/users/later', show)).toThrow('before the first request');
  });
});
