import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core';
import { loadFactor } from '../eventually.js';
import { rememberSecret } from '../runner/run-directory.js';

/** The headless shell comes first: it has no window to draw, and takes half of the CPU time. */
const CHROMIUM_PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const CHROMIUM = CHROMIUM_PATHS.find((path) => existsSync(path));
const MISSING = `There is no Chromium in ${CHROMIUM_PATHS.join(', ')}: install it (on Debian: apt-get install chromium).`;

const SAVES_PICTURES = process.env.SCREENSHOTS !== undefined;
const SCREENSHOTS = join(import.meta.dirname, '..', '..', '..', '.artefacts', 'pages');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2, levels A and AA. The tag of a version contains only the rules that the version added. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };
/** A desktop page at 400% zoom, which must not scroll horizontally (WCAG 1.4.10). */
const NARROW = { width: 320, height: 700 };

/** Kinds of files that set no cookies. Asking the browser for their headers takes time. */
const WITHOUT_COOKIES: ReadonlySet<string> = new Set(['font', 'image', 'script', 'stylesheet']);

/** Milliseconds. Browsers start slowly on a busy machine. */
const TIMEOUT = 60_000;

/** Runs a group of tests in one browser. Without a browser they are skipped, except in CI, where they fail. */
export function describeInBrowser(name: string, tests: (windows: Windows) => void): void {
  if (CHROMIUM === undefined && process.env.CI !== 'true') {
    describe.skip(`${name} (${MISSING})`, () => it('needs a browser', () => undefined));
    return;
  }
  describe(name, () => {
    const windows = new Windows();
    // ES modules have no global `jest`.
    import.meta.jest.setTimeout(TIMEOUT);
    beforeAll(() => windows.start(), TIMEOUT);
    afterAll(() => windows.end(), TIMEOUT);
    tests(windows);
    afterAll(() => expect(windows.allowsFindings ? [] : windows.findings).toEqual([]));
  });
}

export interface WindowOptions {
  readonly javaScript?: boolean;
  readonly size?: { readonly width: number; readonly height: number };
  /** Disables the content security policy of pages, which would block the script of axe. */
  readonly bypassPolicy?: boolean;
  /** The IANA name of the local time zone. Defaults to that of the machine. */
  readonly timeZone?: string;
  /** A login that the window has already, such as that of `TestApp.login`. */
  readonly login?: { readonly cookie: string };
}

/** Browser windows with separate cookies. Requests to other hosts are recorded as findings. */
export class Windows {
  /** Otherwise the tests of the group fail if any page had a finding. */
  allowsFindings = false;
  private browser: Browser | undefined;
  private readonly foreignRequests: string[] = [];
  private readonly consoleErrors: string[] = [];

  async start(): Promise<void> {
    if (CHROMIUM === undefined) throw new Error(MISSING);
    // The sandbox does not work for root, and the browser opens only our own pages.
    this.browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    });
  }

  async end(): Promise<void> {
    await this.browser?.close();
  }

  async open(baseUrl: string, options: WindowOptions = {}): Promise<Page> {
    if (!this.browser) throw new Error('The browser was not started');
    const settings: BrowserContextOptions = {
      baseURL: baseUrl,
      viewport: options.size ?? DESK,
      colorScheme: 'light',
      javaScriptEnabled: options.javaScript ?? true,
      bypassCSP: options.bypassPolicy ?? false,
      locale: 'en-US',
      ...(options.timeZone !== undefined && { timezoneId: options.timeZone }),
    };
    const context = await this.browser.newContext(settings);
    context.setDefaultTimeout((TIMEOUT / 4) * loadFactor());
    if (options.login) await useLogin(context, baseUrl, options.login);
    const page = await context.newPage();
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.origin !== new URL(baseUrl).origin)
        this.foreignRequests.push(url.href);
    });
    page.on('console', (message) => {
      // The browser also reports a 403 response as an error.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.consoleErrors.push(message.text());
      }
    });
    page.on('response', (response) => {
      if (WITHOUT_COOKIES.has(response.request().resourceType())) return;
      const remember = (cookie: string | null): void =>
        rememberSecret(...[...(cookie ?? '').matchAll(/session=([\w-]+)/g)].map(([, token]) => token ?? ''));
      // The window may be closed before the header is read.
      response.headerValue('set-cookie').then(remember, () => undefined);
    });
    return page;
  }

  /** Requests to other hosts, and errors in the console, such as violations of the content security policy. */
  get findings(): string[] {
    return [...this.foreignRequests, ...this.consoleErrors];
  }
}

/**
 * Waits for a page that shows this, and until its scripts run. Neither a click nor a key waits for the page that it leads to, so it
 * must be something that the page before does not show.
 */
async function waitForPageWith(shown: Locator): Promise<void> {
  await shown.waitFor();
  await shown.page().waitForLoadState();
}

/** Waits for a page with this heading, which the page before does not have, and until its scripts run. */
export const waitForHeading = (page: Page, name: string | RegExp): Promise<void> =>
  waitForPageWith(page.getByRole('heading', { level: 1, name, exact: true }));

/** Waits for a page with this text, which the page before does not have, and until its scripts run. */
export const waitForText = (page: Page, text: string | RegExp): Promise<void> =>
  waitForPageWith(page.getByText(text));

/** Waits until the element has the focus, which a page gives to its first field only when it is drawn. */
export const waitForFocus = (element: Locator): Promise<void> =>
  element.and(element.page().locator(':focus')).waitFor();

/** Gives the windows of a context a login, which takes much less time than the form. */
export async function useLogin(
  context: BrowserContext,
  url: string,
  { cookie }: { readonly cookie: string },
): Promise<void> {
  const [name = '', value = ''] = cookie.split('=');
  await context.addCookies([{ name, value, url }]);
}

/** Sends the form of the login, in two steps. It leads to another page, for which the caller waits. */
export async function logIn(
  page: Page,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto('/login');
  // The password of a user who is logged in is asked for at once.
  if (!(await page.getByLabel('Password').isVisible())) {
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Continue' }).click();
    // Both pages have the field of the address.
    await page.getByLabel('Password').waitFor();
  }
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Opens the menu with the pages about the user's account, the time zone and the logout. */
export const openAccountMenu = (page: Page): Promise<void> => page.locator('.account summary').click();

/** Sends the form of the logout. It leads to another page, for which the caller waits. */
export async function logOut(page: Page): Promise<void> {
  await openAccountMenu(page);
  await page.getByRole('button', { name: 'Log out' }).click();
}

/**
 * Returns problems of the current page: whether it scrolls horizontally at three widths, and violations of WCAG, once for each
 * color scheme: light on a desk, and dark on a phone. With the variable `SCREENSHOTS`, saves pictures of the page in
 * `.artefacts/pages`.
 *
 * @param options.isLayout checks both schemes at both widths. What only one width shows, such as the column of the navigation,
 *   is the same on all pages of a layout, so one page of each layout is enough.
 */
export async function inspect(
  page: Page,
  name: string,
  { isLayout = false }: { readonly isLayout?: boolean } = {},
): Promise<string[]> {
  const findings: string[] = [];
  // Before that, the page can lack its style sheet.
  await page.waitForLoadState();
  for (const size of [NARROW, PHONE, DESK]) {
    await page.setViewportSize(size);
    const overflow = Number(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    );
    if (overflow > 0) findings.push(`${name} scrolls horizontally by ${overflow} px at ${size.width}`);
    if (size === NARROW) continue;
    for (const colorScheme of ['dark', 'light'] as const) {
      const isChecked = isLayout || (colorScheme === 'light') === (size === DESK);
      if (!isChecked && !SAVES_PICTURES) continue;
      await page.emulateMedia({ colorScheme });
      await savePicture(page, `${name}-${size.width}${colorScheme === 'dark' ? '-dark' : ''}`);
      if (!isChecked) continue;
      for (const violation of await violations(page))
        findings.push(`${name} at ${size.width}, ${colorScheme}: ${violation}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
  return findings;
}

/** Saves a picture of the whole page, or of an element, if the variable `SCREENSHOTS` is set. */
export async function savePicture(target: Page | Locator, name: string): Promise<void> {
  if (!SAVES_PICTURES) return;
  const path = join(SCREENSHOTS, `${name}.png`);
  await ('goto' in target ? target.screenshot({ path, fullPage: true }) : target.screenshot({ path }));
}

/** Returns violations of WCAG 2.2 AA that can be detected automatically. */
async function violations(page: Page): Promise<string[]> {
  // Sending and compiling the script takes longer than a check. It is gone after a navigation.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(AXE);
  // Without `resultTypes`, axe also describes each element that passes a rule.
  const options = JSON.stringify({ runOnly: { type: 'tag', values: RULES }, resultTypes: ['violations'] });
  const found = (await page.evaluate(
    `axe.run('html', ${options}).then(({ violations }) => violations)`,
  )) as AxeResults['violations'];
  return found.map(({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(' ')})`);
}

/** Returns the label of the focused element, and whether its focus is visible. */
export async function focused(page: Page): Promise<{ name: string; isVisible: boolean }> {
  return (await page.evaluate(`(() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    const name = element.labels?.[0]?.textContent ?? element.textContent;
    return { name, isVisible: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
  })()`)) as { name: string; isVisible: boolean };
}

/** Presses Tab until the element with this label has the focus, unless it has it already. @returns the labels of all focused elements */
export async function tabTo(page: Page, wanted: string): Promise<string[]> {
  const names: string[] = [];
  // Before that, the page can lack the style sheet that shows the focus.
  await page.waitForLoadState();
  const before = await focused(page);
  if (before.name === wanted && before.isVisible) return [wanted];
  while (names.at(-1) !== wanted) {
    if (names.length > 30) throw new Error(`Tab does not reach ${wanted}: ${names.join(', ')}`);
    await page.keyboard.press('Tab');
    const { name, isVisible } = await focused(page);
    if (!isVisible) throw new Error(`The focus of ${name} is not visible`);
    names.push(name);
  }
  return names;
}

/** Checks that a field is ready for another code after one was refused, on the page that says so. */
export async function expectEmptyWithFocus(field: Locator): Promise<void> {
  await waitForFocus(field);
  expect(await field.inputValue()).toBe('');
}
