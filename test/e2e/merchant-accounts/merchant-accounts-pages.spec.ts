import { useTestApp } from '../../support/test-app.js';
import { visitorWithRole, type Visitor, linkTo, rowsOf } from '../../support/pages/visitor.js';

const PATH = '/dashboard/development/merchant-accounts';
/** An ID that must be encoded in an address and in a page. */
const USER = 'user "1" & +Ä';
const pathOf = (user: string, path = PATH): string =>
  `${path}?${new URLSearchParams({ external_user_id: user })}`;

const service = useTestApp();
let viewer: Visitor;

beforeAll(async () => {
  viewer = await visitorWithRole(service, 'viewer');
});

async function change(action: 'link' | 'disconnect', user: string, merchant_id: number): Promise<void> {
  const { status } = await service.request(`/development/accounts/${action}`, {
    body: { external_user_id: user, merchant_id },
    as: service.development,
  });
  expect(status).toBe(200);
}

describe('The page about merchant accounts', () => {
  it('asks for a user first', async () => {
    const { status, text } = await viewer.get(PATH);
    expect(status).toBe(200);
    expect(text).toContain('Look up a customer');
    expect(text).not.toContain('has no merchant accounts');
    expect(linkTo('Merchant accounts', text)).toBe(PATH);
  });

  it('shows the accounts of the user with their states and times', async () => {
    await change('link', USER, 19);
    await change('link', USER, 16);
    await change('disconnect', USER, 19);
    const { text } = await viewer.get(pathOf(USER));
    expect(rowsOf(text)).toEqual([
      [
        'Netflix',
        'Connected',
        expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string,
        expect.stringMatching(/^[\da-f-]{36}$/) as string,
      ],
      [
        'DoorDash',
        'Disconnected',
        expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string,
        expect.any(String) as string,
      ],
    ]);
    expect(text).toContain('<h1>user &quot;1&quot; &amp; +Ä</h1>');
  });

  it('does not show the accounts in the other environment or to another organization', async () => {
    const other = await service.anotherOrganization();
    const stranger = await visitorWithRole(service, 'owner', other.id);
    await change('link', 'own', 16);
    for (const [visitor, path] of [
      [viewer, '/dashboard/production/merchant-accounts'],
      [stranger, PATH],
    ] as const) {
      const { text } = await visitor.get(pathOf('own', path));
      expect(text).toContain('This customer has no merchant accounts');
      expect(rowsOf(text)).toEqual([]);
    }
    expect(rowsOf((await viewer.get(pathOf('own'))).text)).toHaveLength(1);
  });

  it('says how to get accounts in development', async () => {
    const { text } = await viewer.get(pathOf('nobody'));
    expect(linkTo('Link an account in the sandbox', text)).toBe('/docs/sandbox');
    const production = await viewer.get(pathOf('nobody', '/dashboard/production/merchant-accounts'));
    expect(linkTo('Link an account in the sandbox', production.text)).toBe('');
  });

  it('links to the request log of the user, whose list and entries lead back by the page of the user', async () => {
    await change('link', USER, 16);
    const log = linkTo('Request log of this customer', (await viewer.get(pathOf(USER))).text);
    const list = (await viewer.get(log)).text;
    expect(list).toContain('POST /development/accounts/link');
    const entry = (await viewer.get(linkTo('POST /development/accounts/link', list))).text;
    for (const page of [list, entry]) {
      const [, path = ''] = /href="([^"]*\/external-users\?[^"]+)"/.exec(page) ?? [];
      const user = await viewer.get(path.replaceAll('&amp;', '&'));
      expect(user.text).toContain(`href="${pathOf(USER).replaceAll('&', '&amp;')}"`);
    }
    const all = (await viewer.get('/dashboard/development/request-logs')).text;
    expect(all).not.toContain('Merchant accounts of this user');
  });

  it('shows an account on each page, and the rest on the next', async () => {
    for (const id of [16, 19]) await change('link', 'pager', id);
    const first = (await viewer.get(`${pathOf('pager')}&limit=1`)).text;
    expect(rowsOf(first).map(([name]) => name)).toEqual(['Netflix']);
    const next = (await viewer.get(linkTo('Next page', first))).text;
    expect(rowsOf(next).map(([name]) => name)).toEqual(['DoorDash']);
    expect(next).toContain('This is the last page.');
  });

  it('shows an error message for an invalid user', async () => {
    const { status, text } = await viewer.get(pathOf('x'.repeat(257)));
    expect(status).toBe(400);
    expect(text).toContain('The “Customer” field must not be greater than 256 characters.');
  });
});
