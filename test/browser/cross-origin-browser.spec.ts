import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeInBrowser } from '../support/pages/browser.js';
import { SUBMIT_JOB_APPLICATION } from '../support/documents/operations.js';
import { useTestApp } from '../support/test-app.js';

let site: Server;
let origin: string;

beforeAll(async () => {
  site = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<h1>Careers</h1>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => site.close());
const service = useTestApp(() => ({ CORS_ORIGINS: `https://app.example.com,${origin}` }));

describeInBrowser('A page of another origin', (windows) => {
  // The browser reports the operation that it refuses.
  windows.allowsFindings = true;

  it('submits an application and reads the response and its request ID', async () => {
    const page = await windows.open(origin);
    await page.goto(origin);
    const submit = (url: string): Promise<unknown> =>
      page.evaluate(
        `fetch(${JSON.stringify(url)}, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: ${JSON.stringify(JSON.stringify(SUBMIT_JOB_APPLICATION.body))},
        }).then(
          async (response) => [response.status, Object.keys(await response.json()), response.headers.has('x-request-id')],
          (error) => error.name,
        )`,
      );
    expect(await submit(`${service.baseUrl}/apply`)).toEqual([200, ['id', 'received_at'], true]);
    // The browser sends no cookies or credentials, and refuses every other operation.
    expect(await submit(`${service.baseUrl}/mcp/tokens/create`)).toBe('TypeError');
  });
});
