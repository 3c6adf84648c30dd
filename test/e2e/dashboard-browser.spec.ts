import { describeInBrowser, headingOf, inspect, savePicture } from '../support/browser.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describeInBrowser('The dashboard in a browser', (windows) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());
  // Problems of all pages that the tests visited.
  afterAll(() => expect(windows.findings).toEqual([]));

  it.each(['light', 'dark'] as const)('all parts of pages are accessible (%s)', async (scheme) => {
    const { cookie } = await service.login('owner');
    const page = await windows.open(service.baseUrl, { scheme, bypassPolicy: true });
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: service.baseUrl }]);
    await page.goto('/dashboard/parts');
    expect(await headingOf(page)).toBe('Parts of pages');
    expect(await inspect(page, 'parts')).toEqual([]);
    await savePicture(page, 'parts');
  });
});
