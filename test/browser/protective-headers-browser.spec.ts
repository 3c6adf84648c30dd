import { describeInBrowser } from '../support/browser.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
const DOCUMENTATION_POLICY = /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp({ TRUSTED_PROXY_HOPS: '1' });
});
afterAll(() => service.close());

/** Reads the whole response: an unread body would keep the connection, and the worker of Jest, open. */
async function get(path: string): Promise<Response> {
  const response = await fetch(`${service.baseUrl}${path}`, { redirect: 'manual' });
  await response.arrayBuffer();
  return response;
}

describeInBrowser('The documentation in a browser', (windows) => {
  it('shows all operations under a policy that allows only its own scripts', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/api']) {
      const { headers } = await get(path);
      expect([path, headers.get('content-security-policy')]).toEqual([
        path,
        expect.stringMatching(DOCUMENTATION_POLICY),
      ]);
    }
    const page = await windows.open(service.baseUrl);
    await page.goto(`${service.baseUrl}/docs/api`);
    await page.locator('.opblock').first().waitFor();
    expect(windows.findings).toEqual([]);
    await page.evaluate(`
      const script = document.createElement('script');
      script.textContent = 'document.title = "run"';
      document.body.append(script);
    `);
    expect(await page.title()).toBe('API reference · Merchant Connectivity');
  });
});
