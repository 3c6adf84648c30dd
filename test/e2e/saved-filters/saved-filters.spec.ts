import { randomBytes } from 'node:crypto';
import {
  MAX_FILTERS_LENGTH,
  MAX_SAVED_FILTERS,
  NOTHING_TO_DELETE,
  NOTHING_TO_SAVE,
  TOO_LONG,
  TOO_MANY,
} from '../../../src/modules/saved-filters/saved-filters.service.js';
import { auditEntries } from '../../support/logs/audited.js';
import { submitForm } from '../../support/pages/dashboard-forms.js';
import { finishErasures, placesOf } from '../../support/merchants/erasures.js';
import { useTestApp } from '../../support/test-app.js';
import { visitorWithRole, type PageResponse, type Visitor } from '../../support/pages/visitor.js';

const LOGS = '/dashboard/development/request-logs';
const PATH = '/dashboard/saved-filters';
/** The lists with filters, with filters of each. */
const LISTS = [
  [LOGS, 'period=7d&outcome=failure&error_code=INVALID_FIELD'],
  ['/dashboard/production/request-logs', 'start=2026-01-31T09:15&end=2026-01-31T10:15&zone=Europe/Berlin'],
  ['/dashboard/development/events', 'event=CARD_UPDATED&external_user_id=user-1'],
  ['/dashboard/development/merchants', 'name=net&status=hidden'],
  ['/dashboard/development/merchant-accounts', 'external_user_id=user-1'],
  ['/dashboard/development/agents', 'host=agent.example.com'],
  ['/dashboard/development/agents', 'host=agent.example.com?a'],
  ['/dashboard/audit-log', 'actor=ada&action=user.add&outcome=denied'],
  ['/dashboard/users', 'search=ada&role=member&status=active&two_factor=off'],
] as const;

const service = useTestApp();

interface SavedRow {
  readonly id: string;
  readonly name: string;
  readonly filters: Record<string, string>;
}

const savedOf = ({ login }: { readonly login: { readonly userId: string } }): Promise<SavedRow[]> =>
  service.database.query<SavedRow>('SELECT id, name, filters FROM saved_filter WHERE user_id = $1', [
    login.userId,
  ]);

type User = Awaited<ReturnType<typeof visitorWithRole>>;

/** Returns a visitor that has opened a list, so that it can send its forms. */
async function userOn(list: string, role: Parameters<typeof visitorWithRole>[1] = 'owner'): Promise<User> {
  const user = await visitorWithRole(service, role);
  await user.get(list);
  return user;
}

const save = (user: Visitor, page: string, name: string): Promise<PageResponse> =>
  user.submit(PATH, { page, filter_name: name });

/** Returns the links of the saved filters of a page: names and addresses. */
function linksOn({ text }: PageResponse): Record<string, string> {
  const [, menu = ''] = /<details class="popover saved">(.*?)<\/details>/s.exec(text) ?? [];
  return Object.fromEntries(
    [...menu.matchAll(/<li><a href="([^"]+)">([^<]+)<\/a>/g)].map(([, href = '', name = '']) => [
      name,
      href.replaceAll('&amp;', '&'),
    ]),
  );
}

describe('Saved filters', () => {
  it.each(LISTS)('are saved in the list %s, and open it again', async (list, query) => {
    const user = await userOn(list);
    const { status, location } = await save(user, `${list}?${query}`, 'Mine');
    expect([status, new URL(location ?? '', 'http://x').pathname]).toEqual([303, list]);
    const page = await user.get(location ?? '');
    expect([page.status, page.text.includes('The filters were saved.')]).toEqual([200, true]);

    const opened = await user.get(linksOn(page)['Mine'] ?? '');
    const address = new URL(opened.location ?? '', 'http://x');
    expect([opened.status, address.pathname]).toEqual([303, list]);
    expect(Object.fromEntries(address.searchParams)).toEqual(Object.fromEntries(new URLSearchParams(query)));
    expect((await user.get(opened.location ?? '')).status).toBe(200);
    // The choice of one employee is not part of the organization's audit log.
    expect((await auditEntries(service))[0]?.actor.email).not.toBe(user.login.email);
  });

  it('are only filters of the list, without the position in it', async () => {
    const user = await userOn(LOGS);
    const query =
      'type=webhook&cursor=abc&before=abc&trail=first&live=on&done=x&other=1&constructor=1&limit=2';
    expect((await save(user, `${LOGS}?${query}`, 'Deliveries')).location).toBe(
      `${LOGS}?type=webhook&done=filters_saved`,
    );
    expect((await savedOf(user))[0]?.filters).toEqual({ type: 'webhook' });
  });

  it('must be filters that the list accepts', async () => {
    const user = await userOn(LOGS);
    for (const query of [
      'outcome=maybe',
      'period=30d',
      'type=webhook&type=request',
      'start=x',
      'error_code=%00',
    ]) {
      const { status, text } = await save(user, `${LOGS}?${query}`, 'Mine');
      expect([query, status]).toEqual([query, 400]);
      // The form keeps what the user typed.
      expect(text).toContain('value="Mine"');
    }
    for (const page of [LOGS, `${LOGS}?live=on`])
      expect((await save(user, page, 'Mine')).text).toContain(NOTHING_TO_SAVE);
    expect(await savedOf(user)).toEqual([]);
  });

  it('belong to pages of this service that have filters', async () => {
    const user = await userOn(LOGS);
    const pages = [
      'https://evil.example/',
      '//evil.example',
      '/dashboard/development',
      '/account',
      '',
      `${LOGS}/x`,
    ];
    for (const page of pages) {
      const { status, text } = await save(user, `${page}?type=webhook`, 'Mine');
      expect([page, status, text.includes('evil.example')]).toEqual([page, 404, false]);
    }
    expect(await savedOf(user)).toEqual([]);
  });

  it('have names of at most 64 characters, which no page takes for markup', async () => {
    const user = await userOn(LOGS);
    const page = `${LOGS}?type=webhook`;
    expect((await save(user, page, ' ')).status).toBe(400);
    expect((await save(user, page, 'x'.repeat(65))).status).toBe(400);
    expect((await save(user, page, '€'.repeat(64))).status).toBe(303);
    expect((await save(user, page, '<b>"June"</b>')).status).toBe(303);
    expect((await user.get(LOGS)).text).toContain('&lt;b>');
    expect((await user.get(LOGS)).text).not.toContain('<b>');
  });

  it('have a limited length', async () => {
    const user = await userOn(LOGS);
    const longest = '€'.repeat(256);
    const query = `external_user_id=${encodeURIComponent(longest)}`;
    expect(query.length).toBeGreaterThan(MAX_FILTERS_LENGTH);
    const { status, text } = await save(user, `${LOGS}?${query}`, 'Long');
    expect([status, text.includes(TOO_LONG)]).toEqual([400, true]);
    expect((await save(user, `${LOGS}?${query.slice(0, 2_001)}`, 'Shorter')).status).toBe(303);
  });

  it('replace those of the same name', async () => {
    const user = await userOn(LOGS);
    await save(user, `${LOGS}?type=webhook`, 'Mine');
    const { location } = await save(user, `${LOGS}?type=request`, 'Mine');
    expect((await user.get(location ?? '')).text).toContain('were replaced by the current ones');
    expect((await savedOf(user)).map(({ filters }) => filters)).toEqual([{ type: 'request' }]);
    // Another list has its own names.
    await save(user, `/dashboard/production/request-logs?type=webhook`, 'Mine');
    expect(await savedOf(user)).toHaveLength(2);
  });

  it(`are at most ${MAX_SAVED_FILTERS} of a user for a list, also of 25 concurrent requests`, async () => {
    const user = await userOn(LOGS);
    const responses = await Promise.all(
      Array.from({ length: 25 }, (_, index) => save(user, `${LOGS}?type=webhook`, `Filter ${index}`)),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(MAX_SAVED_FILTERS);
    const refused = responses.filter(({ status }) => status === 400);
    expect(refused).toHaveLength(5);
    for (const { text } of refused) expect(text).toContain(TOO_MANY);
    expect(await savedOf(user)).toHaveLength(MAX_SAVED_FILTERS);
    // Filters can still be replaced, and saved for another list.
    const [{ name } = { name: '' }] = await savedOf(user);
    expect((await save(user, `${LOGS}?type=request`, name)).status).toBe(303);
    expect((await save(user, '/dashboard/users?role=admin', 'Admins')).status).toBe(303);
  });

  it('are saved once by 25 concurrent requests with the same name', async () => {
    const user = await userOn(LOGS);
    const responses = await Promise.all(
      Array.from({ length: 25 }, () => save(user, `${LOGS}?type=webhook`, 'Mine')),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([303]));
    expect(await savedOf(user)).toHaveLength(1);
  });

  it('are deleted on a page that asks which', async () => {
    const user = await userOn(LOGS);
    for (const name of ['First', 'Second', 'Third']) await save(user, `${LOGS}?type=webhook`, name);
    const idOf = async (name: string) => (await savedOf(user)).find((saved) => saved.name === name)?.id ?? '';
    const page = `${LOGS}?outcome=failure`;
    const { text } = await user.get(`${PATH}/delete?${new URLSearchParams({ page })}`);
    expect(text).toContain('<span>First</span>');
    expect((await user.submit(`${PATH}/delete`, { page })).text).toContain(NOTHING_TO_DELETE);
    expect(await savedOf(user)).toHaveLength(3);

    const deleted = await user.submit(`${PATH}/delete`, { page, 'ids[]': await idOf('Second') });
    expect(deleted.location).toBe(`${page}&done=filters_deleted`);
    expect((await user.get(deleted.location ?? '')).text).toContain('The saved filters were deleted.');
    expect((await savedOf(user)).map(({ name }) => name).toSorted()).toEqual(['First', 'Third']);
    for (const other of ['https://evil.example/', '//evil.example', '/account', ''])
      for (const response of [
        await user.get(`${PATH}/delete?${new URLSearchParams({ page: other })}`),
        await user.submit(`${PATH}/delete`, { page: other, 'ids[]': await idOf('First') }),
      ])
        expect([other, response.status, /href="[^"]*evil/.test(response.text)]).toEqual([other, 404, false]);
    expect(await savedOf(user)).toHaveLength(2);
  });

  it('are for their user only', async () => {
    const user = await userOn(LOGS);
    await save(user, `${LOGS}?type=webhook`, 'Private filters');
    const [{ id } = { id: '' }] = await savedOf(user);
    const { id: otherOrganization } = await service.anotherOrganization();
    const others = [await userOn(LOGS), await visitorWithRole(service, 'owner', otherOrganization)];
    for (const other of others) {
      expect((await other.get(LOGS)).text).not.toContain('Private filters');
      await save(other, `${LOGS}?type=webhook`, 'Own filters');
      const { text } = await other.get(`${PATH}/delete?page=${LOGS}`);
      expect([text.includes('Own filters'), text.includes('Private filters')]).toEqual([true, false]);
      expect((await other.submit(`${PATH}/delete`, { page: LOGS, 'ids[]': id })).status).toBe(400);
      expect((await other.get(`${PATH}/open/${id}`)).status).toBe(404);
    }
    expect((await user.get(`${PATH}/open/none`)).status).toBe(404);
    expect(await savedOf(user)).toHaveLength(1);
  });

  it('add little to a page', async () => {
    const user = await userOn(LOGS);
    const { size } = await user.get(LOGS);
    const longest = `external_user_id=${'u'.repeat(256)}&error_code=${'X'.repeat(64)}`;
    for (let count = 1; count <= MAX_SAVED_FILTERS; count += 1)
      await save(user, `${LOGS}?${longest}`, `Failed calls of client ${count}`);
    expect((await user.get(LOGS)).size - size).toBeLessThan(2_500);
  });

  it('are for all roles that see the list', async () => {
    const viewer = await userOn(LOGS, 'viewer');
    expect((await save(viewer, `${LOGS}?type=webhook`, 'Mine')).status).toBe(303);
    expect((await save(viewer, '/dashboard/audit-log?outcome=denied', 'Denied')).status).toBe(403);
    expect(await savedOf(viewer)).toHaveLength(1);
  });

  it('require a login and the form token', async () => {
    const user = await userOn(LOGS);
    const fields = { page: `${LOGS}?type=webhook`, filter_name: 'Mine' };
    expect((await user.submit(PATH, { ...fields, form_token: 'forged' })).status).toBe(403);
    expect((await user.submit(PATH, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const { status } = await fetch(service.baseUrl + PATH, {
      method: 'POST',
      headers: { cookie: 'browser=known' },
      body: new URLSearchParams(fields),
    });
    expect(status).toBe(401);
    expect(await savedOf(user)).toEqual([]);
  });

  it('are deleted with their user', async () => {
    const user = await userOn(LOGS);
    await save(user, `${LOGS}?type=webhook`, 'Mine');
    const owner = await service.login('owner');
    await submitForm(service, owner, `/dashboard/users/${user.login.userId}/remove`);
    expect(await savedOf(user)).toEqual([]);
  });

  it('are deleted when the user that they look for is erased, who is in no name from then on', async () => {
    const [person, other] = [
      `p.${randomBytes(8).toString('hex')}+(x)`,
      `q.${randomBytes(8).toString('hex')}`,
    ];
    const user = await userOn(LOGS);
    const by = (name: string): string => `external_user_id=${encodeURIComponent(name)}`;
    await save(user, `${LOGS}?outcome=failure&${by(person)}`, 'By filter');
    await save(user, `/dashboard/development/events?${by(person)}`, 'Events');
    await save(user, `${LOGS}?type=request`, `Calls of ${person}, May`);
    await save(user, `${LOGS}?type=request`, `Calls of x${person}`);
    await save(user, `${LOGS}?${by(other)}`, 'Other user');
    await save(user, `/dashboard/production/request-logs?${by(person)}`, 'Other client');

    const path = `/external-users/${encodeURIComponent(person)}`;
    await service.request(path, { method: 'DELETE', as: service.development });
    await finishErasures(service);
    const renamed = expect.stringMatching(/^Calls of erased[0-9a-f]{8}, May$/) as string;
    expect((await savedOf(user)).map(({ name }) => name).toSorted()).toEqual([
      renamed,
      `Calls of x${person}`,
      'Other client',
      'Other user',
    ]);
    await service.request(path, { method: 'DELETE', as: service.production });
    await finishErasures(service);
    expect((await savedOf(user)).map(({ name }) => name).toSorted()).toEqual([
      renamed,
      `Calls of x${person}`,
      'Other user',
    ]);
    expect(await placesOf(service, `"${person}"`)).toEqual([]);
  });
});
