import { eventually } from '../eventually.js';
import type { RequestOptions, TestApp } from '../test-app.js';

/** Checks that an operation returns 401 without credentials, 500 without its table and 503 without the database. */
export async function expectUsualErrors(
  service: TestApp,
  path: string,
  table: string,
  options: RequestOptions = {},
  credentials: RequestOptions = { as: service.development },
): Promise<void> {
  const status = async (): Promise<number> =>
    (await service.request(path, { ...options, ...credentials })).status;

  expect((await service.request(path, options)).status).toBe(401);

  {
    await using _table = await service.database.hide(table);
    expect(await status()).toBe(500);
  }

  await service.database.cutOff();
  expect(await status()).toBe(503);
  await service.database.reconnect();
  await eventually('the service is ready', async () => (await service.request('/readyz')).status === 200);
}
