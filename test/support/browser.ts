import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { rememberSecret } from './run-directory.js';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const PROGRAM = PLACES.find((place) => existsSync(place));
const MISSING = `There is no Chromium in ${PLACES.join(', ')}: install it (on Debian: apt-get install chromium).`;

const PICTURES = join(import.meta.dirname, '..', '..', '.artefacts', 'pages');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2, levels A and AA; each version's tag holds only what that version added. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };
/** Where a page that is zoomed to 400% on a desk still has to do without scrolling sideways (WCAG 1.4.10). */
const NARROWEST = { width: 320, height: 700 };

/** Milliseconds: browsers are slow to start, and the machine may be busy. */
const TIMEOUT = 60_000;

/** One browser for a group of tests; skipped where there is none, which is a failure where everything counts. */
export function describeInBrowser(name: string, tests: (windows: Windows) => void): void {
  if (PROGRAM === undefined && process.env.CI !== 'true') {
    describe.skip(`${name} (${MISSING})`, () => it('needs a browser', () => undefined));
    return;
  }
  describe(name, () => {
    const windows = new Windows();
    // In native modules Jest is found here alone.
    import.meta.jest.setTimeout(TIMEOUT);
    beforeAll(() => windows.start(), TIMEOUT);
    afterAll(() => windows.end(), TIMEOUT);
    tests(windows);
  });
}

export interface WindowOptions {
  readonly scheme?: 'light' | 'dark';
  readonly javaScript?: boolean;
  readonly size?: { readonly width: number; readonly height: number };
  /** For axe, which is a script, and our pages allow none. */
  readonly bypassPolicy?: boolean;
}

/** Windows of a browser, each with cookies of its own; none of them may ask any other host for anything. */
export class Windows {
  private browser: Browser | undefined;
  private readonly strangers: string[] = [];
  private readonly complaints: string[] = [];

  async start(): Promise<void> {
    if (PROGRAM === undefined) throw new Error(MISSING);
    // Without its sandbox, which root cannot have; it sees our own pages alone.
    this.browser = await chromium.launch({
      executablePath: PROGRAM,
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
      colorScheme: options.scheme ?? 'light',
      javaScriptEnabled: options.javaScript ?? true,
      bypassCSP: options.bypassPolicy ?? false,
      locale: 'en-US',
    };
    const context = await this.browser.newContext(settings);
    context.setDefaultTimeout(TIMEOUT / 4);
    const page = await context.newPage();
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.origin !== new URL(baseUrl).origin) this.strangers.push(url.href);
    });
    page.on('console', (message) => {
      // That a page was answered 403 is told as an error too.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.complaints.push(message.text());
      }
    });
    page.on('response', (response) => {
      const remember = (cookie: string | null): void =>
        rememberSecret(...[...(cookie ?? '').matchAll(/session=([\w-]+)/g)].map(([, token]) => token ?? ''));
      // The window may be gone before it has said.
      response.headerValue('set-cookie').then(remember, () => undefined);
    });
    return page;
  }

  /** What was asked of other hosts, and what the browser had to complain about (such as the policy for content). */
  get findings(): string[] {
    return [...this.strangers, ...this.complaints];
  }
}

export const headingOf = (page: Page): Promise<string | null> => page.locator('h1').textContent();

/** On the page of logins, by mouse. */
export async function logIn(
  page: Page,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** What is wrong with the page as it stands, on a phone, at a desk and at the narrowest; leaves pictures. */
export async function inspect(page: Page, name: string): Promise<string[]> {
  mkdirSync(PICTURES, { recursive: true });
  const scheme = (await page.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`)) ? '-dark' : '';
  const findings: string[] = [];
  for (const size of [NARROWEST, PHONE, DESK]) {
    await page.setViewportSize(size);
    const overflow = Number(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    );
    if (overflow > 0) findings.push(`${name} has to be scrolled sideways by ${overflow} px at ${size.width}`);
    if (size === NARROWEST) continue;
    const path = join(PICTURES, `${name}-${size.width}${scheme}.png`);
    await page.screenshot({ path, fullPage: true });
    findings.push(
      ...(await violations(page)).map((violation) => `${name} at ${size.width}${scheme}: ${violation}`),
    );
  }
  return findings;
}

/** Of WCAG 2.2 AA, as far as a program can tell. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const results = (await page.evaluate(
    `axe.run({ runOnly: { type: 'tag', values: ${JSON.stringify(RULES)} } })`,
  )) as AxeResults;
  return results.violations.map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(' ')})`,
  );
}

/** Which element has the focus, by what a person would call it, and whether one can see that it has. */
export async function focused(page: Page): Promise<{ name: string; isVisible: boolean }> {
  return (await page.evaluate(`(() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    const name = element.labels?.[0]?.textContent ?? element.textContent;
    return { name, isVisible: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
  })()`)) as { name: string; isVisible: boolean };
}

/** Presses Tab until the element of this name has the focus. @returns the names on the way, this one last */
export async function tabTo(page: Page, wanted: string): Promise<string[]> {
  const names: string[] = [];
  while (names.at(-1) !== wanted) {
    if (names.length > 30) throw new Error(`Tab does not reach ${wanted}: ${names.join(', ')}`);
    await page.keyboard.press('Tab');
    const { name, isVisible } = await focused(page);
    if (!isVisible) throw new Error(`One cannot see that ${name} has the focus`);
    names.push(name);
  }
  return names;
}
