import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { OAuthConfiguration } from '../../../src/modules/oauth/oauth.configuration.js';
import { moveClock, stopClock } from '../../support/clock.js';
import {
  Browser,
  decide,
  freshAddress,
  startFlow,
  type BrowserPage,
} from '../../support/logins/device-flow.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';

/** The page that asks for the code again, and says why. */
const UNDECIDED = '/device?done=undecided';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const service = useTestApp({ TRUSTED_PROXY_HOPS: '1', DEVICE_CODES_PER_MINUTE: '100000' });
const user = useLogin(service, 'member');

const browse = (login?: Login, address = freshAddress()): Browser =>
  new Browser(service.baseUrl, login, { 'x-forwarded-for': address });

/** Returns a browser that shows the form for the code. */
async function atDevice(login = user, address = freshAddress()): Promise<Browser> {
  const browser = browse(login, address);
  expect((await browser.open('/device')).status).toBe(200);
  return browser;
}

const enter = (browser: Browser, user_code: string): Promise<BrowserPage> =>
  browser.send('/device', { user_code });

async function requestOf(userCode: string): Promise<string> {
  const { location } = await enter(await atDevice(), userCode);
  return new URL(location ?? '', service.baseUrl).searchParams.get('request') ?? '';
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ');
const titleOf = (html: string): string | undefined => /<title>([^<]*)<\/title>/.exec(html)?.[1];

describe('The device approval pages', () => {
  it('require a login and return to the page afterwards', async () => {
    const code = 'WDJB-MJHT';
    for (const [path, next] of [
      ['/device', '/device'],
      [`/device?user_code=${code}`, `/device?user_code=${code}`],
      [`/device/confirm?request=${UNKNOWN_ID}`, `/device/confirm?request=${UNKNOWN_ID}`],
      [`/device/result?request=${UNKNOWN_ID}`, `/device/result?request=${UNKNOWN_ID}`],
    ] as const) {
      const { status, location } = await browse().open(path);
      expect([status, location]).toEqual([303, `/login?next=${encodeURIComponent(next)}`]);
    }
    const loggedOut = browse();
    await loggedOut.open('/login');
    expect((await loggedOut.send('/device', { user_code: code })).location).toBe('/login?next=%2Fdevice');
    expect((await loggedOut.send('/device/confirm', {})).location).toBe('/login?next=%2Fdevice%2Fconfirm');
    // The data of the form is lost on the way.
    const lost = browse(user);
    expect((await lost.open('/device/confirm')).location).toBe(UNDECIDED);
    expect(textOf((await lost.open(UNDECIDED)).html)).toContain('Nothing was approved or declined.');
    expect(textOf((await lost.open('/device')).html)).not.toContain('Nothing was approved');
  });

  it('have titles, only scripts of this service, and cannot be framed', async () => {
    const { user_code } = await startFlow(service);
    const browser = await atDevice();
    const { location } = await enter(browser, user_code);
    const responses = [
      await browser.open('/device'),
      await browser.open(location ?? ''),
      await enter(browser, 'BBBB-BBBB'),
      await browser.open(`/device/confirm?request=${UNKNOWN_ID}`),
      await decide(service, user, user_code),
    ];
    for (const { headers, html } of responses) {
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
      const scripts = [...html.matchAll(/<script[^>]*>[^<]*/g)].map(([script]) => script);
      const names = ['htmx', 'morph', 'pages'];
      expect(scripts).toEqual(names.map((name) => `<script src="/${name}.js" defer>`));
      expect(headers.get('content-security-policy')).toContain("script-src 'self'");
      expect(html).not.toMatch(/javascript:|\son\w+=/i);
      expect(html).toMatch(/<html lang="en">/);
    }
    expect(responses.map(({ html }) => titleOf(html))).toEqual([
      'Connect a device · Merchant Connectivity',
      'Approve this device? · Merchant Connectivity',
      'Error: Connect a device · Merchant Connectivity',
      'Error: Code not found · Merchant Connectivity',
      'Device approved · Merchant Connectivity',
    ]);
  });

  it('prefill the code from the URL only if DEVICE_VERIFICATION_URI_COMPLETE is enabled', async () => {
    const { html: ignored } = await browse(user).open('/device?user_code=WDJB-MJHT');
    expect(ignored).toMatch(/<input id="user_code"/);
    expect(ignored).not.toContain('value="WDJB-MJHT"');

    const configuration = service.app.get(OAuthConfiguration);
    configuration.verificationUriComplete = true;
    try {
      const { html } = await browse(user).open('/device?user_code=WDJB-MJHT');
      expect(html).toMatch(/<input id="user_code"[^>]* value="WDJB-MJHT"/);
      const hostile = encodeURIComponent('"><script>alert(1)</script>');
      expect((await browse(user).open(`/device?user_code=${hostile}`)).html).not.toContain('<script>');
      expect((await browse(user).open('/device?user_code=a&user_code=b')).status).toBe(200);
    } finally {
      configuration.verificationUriComplete = false;
    }
  });

  it.each([
    ['in lower case', (code: string) => code.toLowerCase()],
    ['without the dash', (code: string) => code.replace('-', '')],
    ['with spaces', (code: string) => ` ${code.replace('-', ' - ')} `],
    ['with dots', (code: string) => [...code].join('.')],
  ])('accept a code %s', async (_spelling, spell) => {
    const { user_code } = await startFlow(service);
    const { status, location } = await enter(await atDevice(), spell(user_code));
    expect([status, location]).toEqual([
      303,
      expect.stringMatching(/^\/device\/confirm\?request=[0-9a-f-]{36}$/),
    ]);
  });

  it('show what requests access, with both choices equally large', async () => {
    const response = await fetch(`${service.baseUrl}/oauth/device/code`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '203.0.113.7', 'user-agent': '<b>Agent</b> 1.0' },
      body: new URLSearchParams({
        client_id: service.production.clientId,
        scope: 'request_logs:read webhook_endpoints:write',
      }),
    });
    const { user_code } = (await response.json()) as { user_code: string };
    const browser = await atDevice();
    const { location } = await enter(browser, user_code);
    const { status, html } = await browser.open(location ?? '');
    expect(status).toBe(200);
    const text = textOf(html);
    for (const part of [
      user_code,
      service.production.clientId,
      'Production client',
      'Reported by the device',
      'Production: real users and real data',
      'Read request logs',
      'Create, update, and delete webhook endpoints, rotate their keys, and send events to them',
      '203.0.113.7',
      '&lt;b>Agent&lt;/b> 1.0',
    ]) {
      expect(part.startsWith('&lt;') ? html : text).toContain(part);
    }
    expect(text).not.toContain('View webhook endpoints');
    expect(html).toContain('class="environment production"');
    const choice = /<div class="choice">(.*?)<\/div>/s.exec(html)?.[1] ?? '';
    expect(
      [...choice.matchAll(/<button([^>]*)>([^<]*)<\/button>/g)].map(([, attributes, label]) => [
        label,
        attributes,
      ]),
    ).toEqual([
      ['Approve', ' name="decision" value="approve"'],
      ['Decline', ' class="second" name="decision" value="deny"'],
    ]);
  });

  it.each([
    ['approve', 'Device approved', 'auth.device_approve', 'approved'],
    ['deny', 'Device declined', 'auth.device_deny', 'denied'],
  ] as const)('record the decision and the user who made it: %s', async (decision, title, action, status) => {
    const { user_code } = await startFlow(service, service.production);
    const id = await requestOf(user_code);
    const { html } = await decide(service, user, user_code, decision);
    expect(html).toContain(`<h1>${title}</h1>`);
    const rows = await service.database.query(
      'SELECT status, user_id, decided_at IS NOT NULL AS decided FROM device_authorization WHERE id = $1',
      [id],
    );
    expect(rows).toEqual([{ status, user_id: user.userId, decided: true }]);
    const [entry] = await service.database.query(
      `SELECT * FROM audit_log WHERE organization_id = $1 ORDER BY sequence DESC LIMIT 1`,
      [service.organizationId],
    );
    expect(entry).toMatchObject({
      action,
      outcome: 'success',
      actor_email: user.email,
      target_type: 'device',
      target_name: service.production.clientId,
      target_environment: 'production',
    });
  });

  it('record no decision if its audit entry cannot be written', async () => {
    const { user_code } = await startFlow(service);
    const id = await requestOf(user_code);
    await using _table = await service.database.hide('audit_log');
    const { status, html } = await decide(service, user, user_code);
    // The request is still pending.
    expect(status).toBe(404);
    expect(html).toContain('Code not found');
    expect(
      await service.database.query('SELECT status FROM device_authorization WHERE id = $1', [id]),
    ).toEqual([{ status: 'pending' }]);
  });

  it('show the outcome of a request that was decided or has expired', async () => {
    const colleague = await service.login('owner');
    const { user_code } = await startFlow(service);
    const id = await requestOf(user_code);
    await decide(service, colleague, user_code, 'deny');
    const browser = await atDevice();
    expect((await browser.open(`/device/confirm?request=${id}`)).location).toBe(
      `/device/result?request=${id}`,
    );
    expect((await browser.send('/device/confirm', { request: id, decision: 'approve' })).location).toBe(
      `/device/result?request=${id}`,
    );
    const { html } = await browser.open(`/device/result?request=${id}`);
    expect(html).toContain('<h1>Device declined</h1>');
    expect(html).toContain('Another user of your organization made this decision');
    expect((await enter(browser, user_code)).status).toBe(404);

    const late = await startFlow(service);
    const lateId = await requestOf(late.user_code);
    const waiting = await browser.open(`/device/result?request=${lateId}`);
    expect(waiting.location).toBe(`/device/confirm?request=${lateId}`);
    using _clock = moveClock(service, 10 * MINUTE + 1);
    expect((await browser.open(`/device/confirm?request=${lateId}`)).status).toBe(303);
    await browser.send('/device/confirm', { request: lateId, decision: 'approve' });
    expect((await browser.open(`/device/result?request=${lateId}`)).html).toContain('<h1>Code expired</h1>');
    expect((await enter(browser, late.user_code)).status).toBe(404);
  });

  it('let only the session that entered the code decide', async () => {
    const owner = await service.login('owner');
    const { user_code } = await startFlow(service);
    const id = await requestOf(user_code);
    const browser = await atDevice(owner);
    expect((await browser.open(`/device/confirm?request=${id}`)).location).toBe(UNDECIDED);
    const decided = await browser.send('/device/confirm', { request: id, decision: 'approve' });
    expect(decided.location).toBe(UNDECIDED);
    expect(textOf((await browser.open(UNDECIDED)).html)).toContain('Enter the code again.');
    expect(
      await service.database.query('SELECT status FROM device_authorization WHERE id = $1', [id]),
    ).toEqual([{ status: 'pending' }]);

    // The owner can decide after entering the code, and the first session no longer can.
    expect((await enter(browser, user_code)).location).toBe(`/device/confirm?request=${id}`);
    expect((await browser.open(`/device/confirm?request=${id}`)).status).toBe(200);
    const first = await (await atDevice()).send('/device/confirm', { request: id, decision: 'approve' });
    expect(first.location).toBe(UNDECIDED);
    const { location } = await browser.send('/device/confirm', { request: id, decision: 'deny' });
    expect(location).toBe(`/device/result?request=${id}`);
  });

  it('do not show requests of another organization', async () => {
    const { id: organizationId } = await service.anotherOrganization();
    const outsider = await service.login('owner', organizationId);
    const { user_code } = await startFlow(service);
    const id = await requestOf(user_code);
    const browser = await atDevice(outsider);
    const [foreign, unknown] = [await enter(browser, user_code), await enter(browser, 'BBBB-BBBB')];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(textOf(foreign.html).replace(user_code, '')).toBe(textOf(unknown.html).replace('BBBB-BBBB', ''));
    for (const request of [id, UNKNOWN_ID, 'nonsense', "' OR 1=1", '']) {
      for (const page of [
        await browser.open(`/device/confirm?request=${encodeURIComponent(request)}`),
        await browser.open(`/device/result?request=${encodeURIComponent(request)}`),
        await browser.send('/device/confirm', { request, decision: 'approve' }),
      ]) {
        expect([page.status, titleOf(page.html)]).toEqual([
          404,
          'Error: Code not found · Merchant Connectivity',
        ]);
      }
    }
    expect(
      await service.database.query('SELECT status FROM device_authorization WHERE id = $1', [id]),
    ).toEqual([{ status: 'pending' }]);
  });

  it('reject forged forms', async () => {
    const { user_code } = await startFlow(service);
    const request = await requestOf(user_code);
    for (const form_token of ['', 'nonsense', 'A'.repeat(43)]) {
      const browser = await atDevice();
      for (const [path, fields] of [
        ['/device', { user_code }],
        ['/device/confirm', { request, decision: 'approve' }],
      ] as const) {
        const { status, html } = await browser.send(path, { ...fields, form_token });
        expect([status, titleOf(html)]).toEqual([403, 'Error: Form out of date · Merchant Connectivity']);
      }
    }
    // An invalid decision.
    const undecided = await (await atDevice()).send('/device/confirm', { request, decision: 'maybe' });
    expect(undecided.status).toBe(400);
    expect(
      await service.database.query('SELECT status FROM device_authorization WHERE id = $1', [request]),
    ).toEqual([{ status: 'pending' }]);
  });
});

describe('Wrong user codes', () => {
  it('are limited to 5 per user in 15 minutes; correct codes neither count nor reset the limit', async () => {
    const other = await service.login('member');
    const right = async (): Promise<string> => (await startFlow(service)).user_code;
    const browser = await atDevice(other);
    const statuses: number[] = [];
    for (const code of ['BBBB-BBBB', 'CCCC-CCCC', 'nonsense'])
      statuses.push((await enter(browser, code)).status);
    for (let each = 0; each < 8; each += 1) statuses.push((await enter(browser, await right())).status);
    for (const code of ['DDDD-DDDD', '']) statuses.push((await enter(browser, code)).status);
    expect(statuses).toEqual([404, 404, 404, ...Array<number>(8).fill(303), 404, 404]);

    const { status, headers, html } = await enter(browser, await right());
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(800);
    expect(html).toContain('Too many wrong codes. Try again in 15 minutes.');
    // The limit also applies to another address, and immediately.
    const elsewhere = await atDevice(other);
    expect((await enter(elsewhere, await right())).status).toBe(429);
    expect((await enter(await atDevice(), await right())).status).toBe(303);
  });

  it('are limited to 20 per IP address per hour across all users, even concurrently', async () => {
    const address = '198.51.100.7';
    const users = await Promise.all(
      Array.from({ length: 6 }, async () => atDevice(await service.login('member'), address)),
    );
    const responses = await Promise.all(
      users.flatMap((browser) => Array.from({ length: 4 }, () => enter(browser, 'BBBB-BBBB'))),
    );
    const statuses = responses.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array<number>(20).fill(404), ...Array<number>(4).fill(429)]);
    const last = await enter(await atDevice(user, address), (await startFlow(service)).user_code);
    expect(last.status).toBe(429);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(3_000);
  });
});

it('user codes can be reused after the decision', async () => {
  using _clock = stopClock(service, new Date());
  const { user_code } = await startFlow(service);
  await decide(service, user, user_code);
  await service.database.query(
    `INSERT INTO device_authorization
     SELECT gen_random_uuid(), client_id, organization_id, environment, sha256('x'), user_code_digest,
            user_code_sealed, scopes, 'pending', 5, requested_at, expires_at, ip, user_agent
       FROM device_authorization ORDER BY decided_at DESC NULLS LAST LIMIT 1`,
  );
  expect((await enter(await atDevice(), user_code)).status).toBe(303);
});
