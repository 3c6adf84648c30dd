import { describeInBrowser } from '../support/pages/browser.js';
import { send } from '../support/http/http.js';
import { useTestApp } from '../support/test-app.js';
const DOCUMENTATION_POLICY = /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/;

const service = useTestApp({ TRUSTED_PROXY_HOPS: '1' });

const get = (path: string) => send(`${service.baseUrl}${path}`);

describeInBrowser('The documentation in a browser', (windows) => {
  // The browser reports the script that the policy refuses.
  windows.allowsFindings = true;

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
    await page.locator('.operations li').first().waitFor();
    expect(windows.findings).toEqual([]);
    await page.evaluate(`
      const script = document.createElement('script');
      script.textContent = 'document.title = "run"';
      document.body.append(script);
    `);
    expect(await page.title()).toBe('API reference · Merchant Connectivity');
  });
});
