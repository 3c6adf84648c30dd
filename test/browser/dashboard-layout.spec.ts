import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describeInBrowser, waitForHeading, type WindowOptions } from '../support/pages/browser.js';
import { eventually } from '../support/eventually.js';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { Program } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { Visitor } from '../support/pages/visitor.js';

const DEMO = '../../scripts/demo.mjs';
const SECRET = /mcs_(?:dev|live)_[0-9A-Za-z]{49}/g;
const START_TIMEOUT = 180_000;
const TIMEOUT = 60_000;
const DESK = { width: 1366, height: 768 };
const PHONE = { width: 390, height: 844 };
/** Pixels of a desk that a browser's own bars leave. */
const FOLD = 700;

const PRODUCTION = '/dashboard/production';
/** The lists with enough entries, by the number of rows that a desk shows. */
const LISTS: readonly (readonly [path: string, rows: number])[] = [
  [`${PRODUCTION}/request-logs`, 18],
  [`${PRODUCTION}/request-logs?period=7d&outcome=failure`, 18],
  [`${PRODUCTION}/events`, 15],
  [`${PRODUCTION}/agents`, 15],
  [`${PRODUCTION}/merchants`, 15],
  ['/dashboard/users', 15],
  ['/dashboard/audit-log', 15],
];
const OTHERS = [
  `${PRODUCTION}/webhook-endpoints`,
  `${PRODUCTION}/webhook-endpoints/new`,
  `${PRODUCTION}/api-credentials`,
  '/dashboard/organization',
  '/account',
];
/** Wider and narrower letters than those of most systems. */
const FONTS = ['DejaVu Sans', 'DejaVu Sans Condensed'];

interface Layout {
  /** Pixels by which the page is wider than the window. */
  readonly overflow: number;
  readonly header: number;
  readonly rowsAboveFold: number;
  readonly firstRow: number;
  readonly highestRow: number;
  /** Words that continue on another line. */
  readonly brokenWords: string[];
  /** Headers of columns, badges, buttons and links of the navigation whose place is too narrow. */
  readonly cut: string[];
}

describeInBrowser('The layout of the dashboard, with a week of data', (windows) => {
  let database: TestDatabase;
  let folder: string;
  let baseUrl: string;
  let login: { readonly cookie: string };
  let desk: Page;

  beforeAll(async () => {
    [database, folder] = [await cloneDatabase({ empty: true }), await mkdtemp(join(tmpdir(), 'layout-'))];
    await chmod(folder, 0o755);
    const environment = { DATABASE_URL: database.url, DATA_DIR: folder, PORT: '0' };
    const demo = new Program(DEMO, { environment });
    const [, email = '', password = ''] = await demo.waitForOutput(
      /dashboard .*\n\s+email\s+(\S+)\s+password\s+(\S+)/,
    );
    [, baseUrl = ''] = await demo.waitForOutput(/Listening on (\S+)\. Documentation: \1\/docs"?/);
    rememberSecret(password, ...(demo.output.match(SECRET) ?? []));
    const visitor = new Visitor({ baseUrl });
    await visitor.logIn(email, password);
    login = { cookie: `session=${visitor.session}` };
    desk = await open({ size: DESK });
  }, START_TIMEOUT);
  afterAll(async () => {
    await Program.endAll();
    await database.drop();
  });
  afterAll(() => expect(windows.findings).toEqual([]));

  async function open(options: WindowOptions): Promise<Page> {
    const page = await windows.open(baseUrl, { ...options, login, bypassPolicy: true });
    // The first pages after the data were written take long on a busy machine.
    page.setDefaultTimeout(TIMEOUT);
    page.setDefaultNavigationTimeout(TIMEOUT);
    return page;
  }

  /** Returns the address of the first thing in a list. */
  async function firstLink(list: string): Promise<string> {
    await desk.goto(list);
    return (await desk.locator('td.main a').first().getAttribute('href')) ?? '';
  }

  function layoutOf(page: Page): Promise<Layout> {
    return page.evaluate((fold) => {
      const rows = [...document.querySelectorAll('table.data tbody tr')].map((row) =>
        row.getBoundingClientRect(),
      );
      const brokenWords: string[] = [];
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        // Code, and a heading with a name that is longer than a line, may break anywhere.
        if (text.parentElement?.closest('pre, code, h1, dd, .unseen, details:not([open])')) continue;
        for (const { 0: word, index } of (text.textContent ?? '').matchAll(/[\w@.-]+/g)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          if (lines.size > 1 && !word.includes('-')) brokenWords.push(word);
        }
      }
      const cut = [
        ...document.querySelectorAll('table.data :is(th, .badge, button, a.button), nav[aria-label=Main] a'),
      ].filter((element) => {
        const [{ right, width }, place] = [element.getBoundingClientRect(), element.closest('td')];
        // Content that a badge hides with `overflow: clip` does not count as scrollable.
        const content = document.createRange();
        content.selectNodeContents(element);
        const isTooWide = element.matches('.badge')
          ? content.getBoundingClientRect().right >
            right - parseFloat(getComputedStyle(element).paddingRight) + 0.5
          : element.scrollWidth > element.clientWidth + 1;
        return width > 1 && (isTooWide || (place && right > place.getBoundingClientRect().right + 1));
      });
      return {
        cut: cut.map(({ textContent }) => textContent ?? ''),
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        header: document.querySelector('header')!.getBoundingClientRect().height,
        rowsAboveFold: rows.filter(({ bottom }) => bottom <= fold).length,
        firstRow: rows[0]?.top ?? 0,
        highestRow: Math.max(0, ...rows.map(({ height }) => height)),
        brokenWords,
      };
    }, FOLD);
  }

  it('shows many rows of one line on a desk, in any font', async () => {
    for (const [path, rows] of LISTS) {
      const response = await desk.goto(path);
      expect([path, (await response!.body()).length <= 60_000]).toEqual([path, true]);
      for (const font of FONTS) {
        await desk.addStyleTag({ content: `* { font-family: '${font}' !important }` });
        const layout = await layoutOf(desk);
        expect({ path, font, ...layout }).toMatchObject({
          overflow: 0,
          header: 56,
          brokenWords: [],
          cut: [],
        });
        expect([
          path,
          font,
          layout.rowsAboveFold >= rows,
          layout.firstRow <= (path.endsWith('/events') ? 265 : path.includes('log') ? 215 : 195),
        ]).toEqual([path, font, true, true]);
        expect(layout.highestRow).toBeLessThanOrEqual(32);
      }
    }
  });

  it('shows email addresses and hosts as a whole on a desk', async () => {
    const event = await firstLink(`${PRODUCTION}/events`);
    // The shortest event: most of the text is the address of its receiver.
    const shortest = `${PRODUCTION}/request-logs?period=7d&event=CARD_FAILED`;
    const others = [
      event,
      shortest,
      PRODUCTION,
      `${PRODUCTION}/webhook-endpoints`,
      `${PRODUCTION}/customers`,
    ];
    let count = 0;
    for (const path of [...LISTS.map(([list]) => list), ...others]) {
      await desk.goto(path);
      const addresses = () =>
        desk.locator('table.data td:visible').evaluateAll((cells) =>
          cells.flatMap((cell) => {
            const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
            for (let text = texts.nextNode(); text; text = texts.nextNode()) {
              const end = text.textContent?.indexOf('.example') ?? -1;
              if (end < 0 || text.parentElement?.closest('.unseen')) continue;
              const address = document.createRange();
              address.setStart(text, 0);
              address.setEnd(text, end + '.example'.length);
              const place = text.parentElement?.closest('.middle > span') ?? cell;
              const edge =
                place.getBoundingClientRect().right - parseFloat(getComputedStyle(place).paddingRight);
              // A name before an email address, or the beginning of it, stands in a part of its own.
              const before = text.parentElement?.closest('.middle > .tail')?.previousElementSibling;
              const isCut =
                address.getBoundingClientRect().right > edge + 0.5 ||
                (text.textContent?.startsWith('@') && before && before.scrollWidth > before.clientWidth);
              return [{ text: cell.textContent, isCut }];
            }
            return [];
          }),
        );
      // On a busy machine, the columns get their widths a moment later.
      await eventually(`no address of ${path} is cut`, async () =>
        (await addresses()).every(({ isCut }) => !isCut),
      );
      count += (await addresses()).length;
    }
    expect(count).toBeGreaterThan(50);
  });

  it('cuts nothing off on the pages of an event and of the credentials', async () => {
    const event = await firstLink(`${PRODUCTION}/events`);
    for (const path of [event, `${PRODUCTION}/api-credentials`, `${PRODUCTION}/webhook-endpoints`]) {
      await desk.goto(path);
      expect({ path, ...(await layoutOf(desk)) }).toMatchObject({ overflow: 0, brokenWords: [], cut: [] });
    }
  });

  it('shows five rows of each list on a phone, in one column', async () => {
    const phone = await open({ size: PHONE });
    for (const [path] of LISTS) {
      await phone.goto(path);
      const layout = await layoutOf(phone);
      expect({ path, ...layout }).toMatchObject({ overflow: 0, header: 56, brokenWords: [] });
      expect([path, layout.rowsAboveFold >= 5]).toEqual([path, true]);
    }
    // The filters take the whole width once they are open.
    await phone.goto(LISTS[0]![0]);
    await phone.getByText('Filters', { exact: true }).click();
    const widths = await phone
      .locator('.filters .line > .field')
      .evaluateAll((fields) => fields.map((field) => field.clientWidth));
    expect(Math.min(...widths)).toBeGreaterThan(140);
    await phone.context().close();
  });

  it('shows the same three fields and perhaps a second line in each row of a list on a phone, and the applied filters', async () => {
    const phone = await open({ size: PHONE });
    for (const [path] of LISTS) {
      await phone.goto(path);
      const rows = await phone.locator('table.data tbody tr:not(.day)').evaluateAll((all) =>
        all.map((row) => {
          const cells = [...row.querySelectorAll('td:not(.check, .buttons)')].filter(
            (cell) => cell.getClientRects().length > 0,
          );
          const second = cells.find((cell) => cell.matches('.second'));
          const lineOf = (cell: Element): number => {
            const distance = cell.getBoundingClientRect().top - row.getBoundingClientRect().top;
            return Math.floor(distance / 24);
          };
          return {
            secondLine: second && lineOf(second),
            fields: cells
              .filter((cell) => cell !== second)
              .map((cell) => {
                const line = lineOf(cell) - (second && !cell.matches('.main') ? 1 : 0);
                return `${(cell as HTMLTableCellElement).cellIndex} in line ${line}`;
              }),
          };
        }),
      );
      expect([path, new Set(rows.map(({ fields }) => fields.length))]).toEqual([path, new Set([3])]);
      expect([path, new Set(rows.map(({ fields }) => fields.join()))]).toMatchObject([path, { size: 1 }]);
      const seconds = rows.map(({ secondLine }) => secondLine);
      const hasSeconds = path.endsWith('/users') || path.endsWith('/audit-log');
      expect([path, seconds.includes(1)]).toEqual([path, hasSeconds]);
    }
    await phone.goto(`${PRODUCTION}/request-logs?period=7d&outcome=failure`);
    await phone.getByText('Filters (2)', { exact: true }).waitFor();
    await phone.getByRole('link', { name: 'Remove the filter Outcome: Failed' }).click();
    await phone.getByText('Filters (1)', { exact: true }).waitFor();
    const shown = phone.locator('.chips').filter({ visible: true });
    expect(await shown.allTextContents()).toEqual(['Remove the filter Period: Last 7 days']);
    await phone.getByText('Filters (1)', { exact: true }).click();
    expect(await shown.count()).toBe(0);
    // “Dev” and “Prod”: the rest of the names is only read to screen readers.
    const rests = phone.locator('.environments .rest');
    expect(await rests.evaluateAll((all) => all.map((rest) => rest.getBoundingClientRect().width))).toEqual([
      0, 0,
    ]);
    await phone.context().close();
  });

  it('never scrolls sideways, and uses the width for lists and at most 640 px for forms', async () => {
    for (const path of OTHERS) {
      await desk.goto(path);
      for (const width of [320, DESK.width, 1920]) {
        await desk.setViewportSize({ width, height: 1080 });
        const { overflow, brokenWords } = await layoutOf(desk);
        // The longest name of an event is wider than the narrowest window.
        expect({ path, width, overflow, brokenWords: width === 320 ? [] : brokenWords }).toEqual({
          path,
          width,
          overflow: 0,
          brokenWords: [],
        });
        const widest = await desk
          .locator('main form:not(.filters, .selection) .field')
          .evaluateAll((fields) => Math.max(0, ...fields.map((field) => field.clientWidth)));
        expect(widest).toBeLessThanOrEqual(640);
      }
    }
    await desk.goto(LISTS[0]![0]);
    const table = await desk.locator('table.data').evaluate((element) => element.clientWidth);
    expect(table).toBeGreaterThan(1_600);
    // The identifiers of the demo have up to 36 characters.
    const shortened = await desk
      .locator('td.user .middle > span')
      .evaluateAll((parts) => parts.filter((part) => part.scrollWidth > part.clientWidth).length);
    expect(shortened).toBe(0);
  });

  it('shows on the overview what needs attention, and two charts', async () => {
    await desk.setViewportSize(DESK);
    await desk.goto(PRODUCTION);
    const bottoms = await desk
      .locator('figure.chart > svg')
      .evaluateAll((charts) => charts.map((chart) => chart.getBoundingClientRect().bottom));
    expect(bottoms.filter((bottom) => bottom <= FOLD)).toHaveLength(2);
    expect(await desk.locator('main h2').first().textContent()).toBe('Endpoints that need attention');
    const links = desk.getByRole('navigation', { name: 'Main' }).getByRole('link');
    expect(await links.count()).toBeLessThanOrEqual(14);
    expect((await links.last().boundingBox())!.y).toBeLessThan(712);
  });

  it('closes menus with Escape, and when the pointer is pressed outside', async () => {
    await desk.goto(LISTS[0]![0]);
    const menus = desk.locator('details.popover');
    const isOpen = () => menus.evaluateAll((all) => all.some((menu) => (menu as HTMLDetailsElement).open));
    for (const close of [
      () => desk.keyboard.press('Escape'),
      () => desk.getByRole('heading', { level: 1 }).click(),
    ]) {
      await desk.getByText('More filters').click();
      expect(await isOpen()).toBe(true);
      const panel = await desk.locator('details.popover[open] .panel').boundingBox();
      expect(panel!.y + panel!.height).toBeLessThanOrEqual(DESK.height);
      await close();
      expect(await isOpen()).toBe(false);
    }
  });

  it('finds a user by the beginning of the identifier, a merchant and a page, and says if there is nothing', async () => {
    const results = async (text: string): Promise<string[]> => {
      await desk.goto(`${PRODUCTION}/search?q=${encodeURIComponent(text)}`);
      return desk.locator('main tbody tr, main .empty h2').allTextContents();
    };
    const [{ user = '' } = {}] = (await database.query(
      `SELECT external_user_id AS "user" FROM request_log
        WHERE external_user_id LIKE '%@%' AND environment = 'production'
        ORDER BY length(external_user_id) DESC LIMIT 1`,
    )) as { user?: string }[];
    expect(await results(user.split('@')[0] ?? '')).toEqual([`Customer${user}`]);
    expect(await results((user.split('@')[0] ?? '').toUpperCase())).toEqual([`Customer${user}`]);
    expect(await results('netfl')).toEqual(['MerchantNetflix']);
    for (const [word, page] of [
      ['sso', 'Single sign-on'],
      ['rotate', 'API credentials'],
      ['invite', 'Users'],
      ['erase', 'Find or erase'],
    ] as const)
      expect([word, await results(word)]).toEqual([word, [`Page${page}`]]);
    expect(await results('rossi')).toEqual(['Dashboard userSofia Rossi, sofia.rossi@northwind-pay.example']);
    expect(await results('legacy.northwind')).toEqual([
      'Webhook endpointhttps://legacy.northwind-pay.example/webhooks/inbound',
    ]);
    expect(await results('nothing at all')).toEqual(['Nothing found']);
  });

  it('shows what the search finds while the user types, for the keyboard, too', async () => {
    await desk.goto(PRODUCTION);
    const title = await desk.title();
    const search = desk.getByRole('searchbox', { name: 'Search' });
    const found = desk.getByRole('region', { name: 'Search results' });
    await search.pressSequentially('sono', { delay: 20 });
    await found.getByRole('link', { name: 'Sonos' }).waitFor();
    expect([desk.url(), await desk.title()]).toEqual([expect.stringMatching(/production$/), title]);
    await desk.keyboard.press('Escape');
    expect(await found.isVisible()).toBe(false);
    await search.fill('qqqqq');
    await found.getByText('Nothing found').waitFor();
    await search.fill('netfl');
    await found.getByRole('link', { name: 'Netflix' }).waitFor();
    // A response that arrives after Escape opens no results, and an error leaves none of an earlier text.
    const late = /search\?q=netfli$/;
    await desk.route(late, () => undefined);
    await desk.keyboard.press('ArrowDown');
    const sent = desk.waitForRequest(late);
    await search.evaluate((field: HTMLInputElement) => {
      // htmx reports both requests as errors.
      console.error = () => undefined;
      field.addEventListener('htmx:sendAbort', () => field.toggleAttribute('data-aborted', true));
      field.value = 'netfli';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await sent;
    await desk.keyboard.press('Escape');
    await desk.locator('.search [data-aborted]').waitFor();
    expect(await found.isVisible()).toBe(false);
    await search.fill('netfl');
    await found.getByRole('link', { name: 'Netflix' }).waitFor();
    const refused = /search\?q=netflx$/;
    await desk.route(refused, (route) => route.fulfill({ status: 429 }));
    await search.fill('netflx');
    await found.waitFor({ state: 'hidden' });
    await search.fill('netfl');
    await found.getByRole('link', { name: 'Netflix' }).waitFor();
    await desk.keyboard.press('ArrowDown');
    await desk.keyboard.press('Enter');
    await waitForHeading(desk, 'Merchants');
  });

  it('shows one part of a delivery at a time, and all of them without a script', async () => {
    const delivery = await firstLink(`${PRODUCTION}/request-logs?period=7d&type=webhook&status_code=503`);
    await desk.goto(delivery);
    const shown = (page: Page): Promise<string[]> =>
      page.locator('section.tab:visible').evaluateAll((all) => all.map((each) => each.ariaLabel ?? ''));
    expect(await shown(desk)).toEqual(['Response']);
    await desk.getByRole('tab', { name: 'Timing' }).click();
    expect(await shown(desk)).toEqual(['Timing']);
    await desk.keyboard.press('ArrowLeft');
    expect(await shown(desk)).toEqual(['Event']);
    expect(await desk.getByRole('tab', { selected: true }).textContent()).toBe('Event');
    const plain = await open({ size: DESK, javaScript: false });
    await plain.goto(delivery);
    expect(await shown(plain)).toEqual(['Details', 'Response', 'Event', 'Timing']);
    await plain.context().close();
  });

  it('shows audited actions, the address that they came from, and a required value, as a whole', async () => {
    await desk.goto('/dashboard/audit-log');
    // Operators and jobs have no address.
    const texts = await desk.locator('td:is(.main, .id)').evaluateAll((cells) =>
      cells.flatMap((cell) => {
        const content = document.createRange();
        content.selectNodeContents(cell);
        const isCut = content.getBoundingClientRect().right > cell.getBoundingClientRect().right;
        return cell.textContent ? [{ text: cell.textContent, isCut }] : [];
      }),
    );
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.filter(({ isCut }) => isCut)).toEqual([]);
    await desk.goto(`${PRODUCTION}/sign-in-links`);
    const customer = desk.getByRole('textbox', { name: 'Customer' });
    await customer.fill('7d1a183e-cfa8-4e00-adb9-7613f4d1d552');
    expect(await customer.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
    await customer.press('Enter');
    await waitForHeading(desk, '7d1a183e-cfa8-4e00-adb9-7613f4d1d552');
  });

  it('leads from every form back to where the user came from', async () => {
    const endpoint = await firstLink(`${PRODUCTION}/webhook-endpoints`);
    for (const [path, parent] of [
      [`${endpoint}/test`, endpoint],
      ['/dashboard/audit-stream', '/dashboard/audit-log'],
      ['/account/password', '/account'],
      ['/device', '/dashboard/devices'],
    ] as const) {
      await desk.goto(path);
      expect(await desk.getByRole('link', { name: 'Cancel' }).getAttribute('href')).toBe(parent);
    }
  });

  it('marks the entry of the navigation that a page without an own one belongs to', async () => {
    const entry = desk.getByRole('navigation', { name: 'Main' }).locator('[aria-current]');
    for (const [path, name] of [
      [`${PRODUCTION}/external-users?external_user_id=someone`, 'Customers'],
      ['/dashboard/access-grants/new', 'Users'],
      ['/dashboard/audit-stream', 'Audit log'],
    ] as const) {
      await desk.goto(path);
      expect([path, await entry.allTextContents()]).toEqual([path, [name]]);
    }
    await desk.goto(`${PRODUCTION}/sign-in-links`);
    await desk.getByRole('heading', { name: 'No customer is selected' }).waitFor();
  });

  it('lets users act on each row, and on the selected ones once there are any', async () => {
    await desk.setViewportSize(DESK);
    await desk.goto(`${PRODUCTION}/merchants`);
    const hide = desk.getByRole('button', { name: 'Hide', exact: true });
    expect([await hide.isEnabled(), await desk.locator('td.buttons button:disabled').count()]).toEqual([
      false,
      0,
    ]);
    await desk.locator('td.check input').first().check();
    await desk.getByRole('button', { name: 'Hide (1 merchant)' }).waitFor();
    expect(await desk.locator('.bar button').isEnabled()).toBe(true);
  });

  it('leaves no gap in a row with a day beside an opened entry', async () => {
    await desk.setViewportSize(DESK);
    await desk.goto(`${PRODUCTION}/request-logs?period=7d&type=request&outcome=failure`);
    await desk.locator('#results td.main a').first().click();
    await desk.locator('#entry h1').waitFor();
    const [table, last, day] = await Promise.all(
      ['table.data', 'thead th.status', 'tr.day'].map((each) => desk.locator(each).first().boundingBox()),
    );
    const right = ({ x, width }: { x: number; width: number }): number => Math.round(x + width);
    expect(right(last!)).toBeGreaterThan(right(table!) - 3);
    expect(right(day!)).toBeGreaterThan(right(table!) - 3);
  });

  it('aligns the buttons of a list on a phone, and shows the last value of each user', async () => {
    const phone = await open({ size: PHONE });
    await phone.goto(`${PRODUCTION}/merchants`);
    const edges = await phone
      .locator('td.buttons button')
      .evaluateAll((all) => all.map((button) => Math.round(button.getBoundingClientRect().right)));
    expect(new Set(edges).size).toBe(1);
    for (const [path, last] of [
      ['/dashboard/users', 'td:last-child'],
      [`${PRODUCTION}/events`, 'td.user'],
    ] as const) {
      await phone.goto(path);
      const hidden = await phone.locator(`table.data tbody ${last}`).evaluateAll(
        (cells) =>
          cells.filter((cell) => {
            const row = cell.closest('tr')!.getBoundingClientRect();
            return cell.getBoundingClientRect().bottom > row.bottom;
          }).length,
      );
      expect([path, hidden]).toEqual([path, 0]);
    }
    await phone.context().close();
  });

  it('fits long and foreign names, identifiers, addresses and messages into every window', async () => {
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3);
    const arabic = 'شركة الاتصالات التجارية المتحدة للمدفوعات والبطاقات الإلكترونية';
    const user = 'identifier'.repeat(25);
    await database.query(`UPDATE dashboard_user SET name = $1 WHERE name LIKE 'Grace%'`, [arabic]);
    await database.query(`UPDATE webhook_endpoint SET url = url || $1`, [`/${'a'.repeat(1_900)}`]);
    await database.query(
      `UPDATE request_log SET external_user_id = $1, error_message = $2 WHERE error_code IS NOT NULL`,
      [user, long],
    );
    const entry = await firstLink(`${PRODUCTION}/request-logs?period=7d&type=request&outcome=failure`);
    const endpoint = await firstLink(`${PRODUCTION}/webhook-endpoints`);
    const about = `${PRODUCTION}/external-users`;
    const ids = `external_user_id=${user}`;
    const paths = [
      entry,
      endpoint,
      `${endpoint}/test`,
      `${endpoint}/recover`,
      `${about}?${ids}`,
      `${about}/erase?${ids}`,
      '/dashboard/single-sign-on/configurations/new',
    ];
    for (const path of paths) {
      await desk.goto(path);
      for (const { width, height } of [DESK, PHONE]) {
        await desk.setViewportSize({ width, height });
        const { overflow } = await layoutOf(desk);
        expect({ path, width, overflow }).toEqual({ path, width, overflow: 0 });
        const codes = await desk
          .locator('.code-block pre:visible')
          .evaluateAll((all) => all.map((code) => code.scrollWidth - code.clientWidth));
        expect([path, Math.max(0, ...codes)]).toEqual([path, 0]);
      }
    }
    // Beside a heading of any length, its actions stay.
    await desk.setViewportSize(DESK);
    await desk.goto(`${about}?${ids}`);
    const [heading, action] = await Promise.all([
      desk.locator('.heading').boundingBox(),
      desk.getByRole('link', { name: 'Erase', exact: true }).boundingBox(),
    ]);
    expect(heading!.height).toBeLessThan(60);
    expect(action!.y).toBeLessThan(heading!.y + 30);
    // A name from right to left is read from its right end.
    await desk.goto('/dashboard/users');
    const name = desk.getByRole('link', { name: arabic }).locator('bdi');
    await name.hover();
    expect(await desk.locator('td[title]').getAttribute('title')).toBe(arabic);
    const beginning = await name.evaluate((element) => {
      const first = document.createRange();
      first.setStart(element.firstChild!, 0);
      first.setEnd(element.firstChild!, 4);
      return element.closest('td')!.getBoundingClientRect().right - first.getBoundingClientRect().right;
    });
    expect(beginning).toBeGreaterThanOrEqual(0);
  });

  it.each(['i', '漢'])(
    'keeps lists below 80 KB with identifiers of 250 and names of 200 × %s',
    async (letter) => {
      const tables = {
        request_log: ['external_user_id', 'error_message'],
        webhook_event: ['external_user_id'],
        agent_connection: ['external_user_id', 'agent_name'],
        audit_log: ['actor_name', 'target_name'],
        dashboard_user: ['name'],
        merchant: ['name'],
      };
      await database.query('ALTER TABLE audit_log DISABLE TRIGGER USER');
      for (const [table, columns] of Object.entries(tables)) {
        const longer = columns.map(
          (column) =>
            `${column} = left(md5(${column}) || repeat($1, 250), ${column.endsWith('_id') ? 250 : 200})`,
        );
        await database.query(`UPDATE ${table} SET ${longer.join(', ')}`, [letter]);
      }
      await database.query(`UPDATE webhook_endpoint SET url = left(url || repeat('/path', 400), 2000)`);
      for (const [path] of LISTS) {
        const response = await desk.goto(path);
        expect([path, Math.max(80_000, (await response!.body()).length)]).toEqual([path, 80_000]);
        const { overflow, rowsAboveFold } = await layoutOf(desk);
        expect([path, overflow, rowsAboveFold >= 15]).toEqual([path, 0, true]);
      }
      // The list has the whole identifier once. It is shown on hover.
      await desk.goto(LISTS[0]![0]);
      const user = desk.locator('td.user:has(a)').first();
      await user.hover();
      expect(await user.getAttribute('title')).toMatch(new RegExp(`^[\\da-f]{32}${letter}{218}$`));
      await user.getByRole('link').click();
      await desk.getByRole('heading', { level: 1, name: letter.repeat(218) }).waitFor();
    },
  );
});
