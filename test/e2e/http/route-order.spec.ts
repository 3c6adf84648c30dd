import { AppModule } from '../../../src/app.module.js';
import { RouteTable } from '../../../src/infrastructure/http/index.js';
import { CREATE_CONNECTION_CODE } from '../../support/documents/operations.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** Starts the service with all modules in the opposite order. */
async function startReversed(): Promise<TestApp> {
  const { register } = AppModule;
  AppModule.register = (...options) => {
    const module = register(...options);
    return { ...module, imports: module.imports?.toReversed() ?? [] };
  };
  try {
    return await startTestApp();
  } finally {
    AppModule.register = register;
  }
}

describe.each([
  ['in the order of app.module.ts', () => startTestApp()],
  ['in the opposite order', startReversed],
])('Modules %s', (_name, start) => {
  let service: TestApp;
  beforeAll(async () => void (service = await start()));
  afterAll(() => service.close());

  it('serve /mcp/connection-codes, which is not an address /mcp/:client_id', async () => {
    const { path, body } = CREATE_CONNECTION_CODE;
    const created = await service.request(path, { body, as: service.development });
    expect(created).toMatchObject({ status: 200, body: { code: expect.any(String) } });
    const agent = await service.request(`/mcp/${service.development.clientId}`, { method: 'POST', body: {} });
    expect(agent).toMatchObject({ status: 401, body: { jsonrpc: '2.0' } });
  });

  it('have no two routes of a method that are equally specific, of which the first would respond', () => {
    const routes = service.app.get(RouteTable).served.map(({ path, method }) => ({
      path,
      method,
      shape: path.replaceAll(/:\w+/g, ':'),
    }));
    expect(routes.length).toBeGreaterThan(200);
    const overlap = (left: string, right: string) => left === right || [left, right].includes('ALL');
    const ambiguous = routes.flatMap((route, index) =>
      routes
        .slice(index + 1)
        .filter(({ shape, method }) => shape === route.shape && overlap(method, route.method))
        .map(({ path, method }) => `${route.method} ${route.path} and ${method} ${path}`),
    );
    expect(ambiguous).toEqual([]);
  });
});
