import { randomUUID } from 'node:crypto';
import type { AttributedClient } from '../../../src/infrastructure/http/index.js';
import { DAY, HOUR } from '../../../src/infrastructure/time/index.js';
import { CustomersJob } from '../../../src/modules/customers/index.js';
import { erasuresOf, finishErasures } from '../../support/merchants/erasures.js';
import { fillRequestLog, loggedRequest } from '../../support/logs/request-log-entries.js';
import { watchStatements } from '../../support/database/statements.js';
import { useTestApp } from '../../support/test-app.js';
import { linkTo, rowsOf, Visitor, visitorWithRole } from '../../support/pages/visitor.js';

const PATH = '/dashboard/production/customers';

const service = useTestApp();
let visitor: Visitor;
let production: AttributedClient;

beforeAll(async () => {
  visitor = await visitorWithRole(service, 'owner');
  production = { clientId: service.production.clientId, environment: 'production' };
});
beforeEach(() => service.database.query('TRUNCATE customer CASCADE'));

const job = (): CustomersJob => service.app.get(CustomersJob, { strict: false });
const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);

/** Adds entries of these users to the log, the first one the newest, and has the job count them. */
async function logged(users: readonly string[], change = {}): Promise<void> {
  await fillRequestLog(
    service,
    users.map((externalUserId, index) =>
      loggedRequest(production, { externalUserId, createdAt: ago((index + 1) * HOUR), ...change }),
    ),
  );
  await job().update();
}

/** Returns the users of the list, in order. */
const usersOn = async (query = ''): Promise<(string | undefined)[]> =>
  rowsOf((await visitor.get(`${PATH}${query}`)).text).map(([user]) => user);

describe('The list of customers', () => {
  it('says how customers get there', async () => {
    const { status, text } = await visitor.get(PATH);
    expect([status, text]).toEqual([200, expect.stringContaining('No customers yet')]);
  });

  it('shows the last active ones first, with their failures of 7 days', async () => {
    await logged(['user-b', 'user-a', 'user-c']);
    await logged(['user-c', 'user-c'], { statusCode: 500 });
    await logged(['user-c'], { statusCode: 404, createdAt: ago(8 * DAY) });
    const { text } = await visitor.get(PATH);
    expect(rowsOf(text).map(([user, , ...counts]) => [user, ...counts])).toEqual([
      ['user-c', '0', '0', '2'],
      ['user-b', '0', '0', '0'],
      ['user-a', '0', '0', '0'],
    ]);
    expect((await visitor.get(linkTo('user-c', text))).text).toContain('<h1>user-c</h1>');
  });

  it('leads to pages about one customer, which are called by the identifier', async () => {
    const tabsOf = (text: string): (string | undefined)[] => {
      const [, tabs = ''] = /<nav class="page-tabs"[^>]*>(.*?)<\/nav>/s.exec(text) ?? [];
      return [...tabs.matchAll(/<a[^>]*>([^<]+)<\/a>/g)].map(([, label]) => label);
    };
    const others = ['Merchant accounts', 'Sign-in links'];
    for (const name of ['external-users', 'merchant-accounts', 'sign-in-links']) {
      const { text } = await visitor.get(`/dashboard/production/${name}?external_user_id=user-c`);
      expect([name, text]).toEqual([name, expect.stringContaining('<h1>user-c</h1>')]);
      expect(text).toContain('<title>user-c · Production · Merchant Connectivity</title>');
      expect(text).toContain('<p class="parent"><a href="/dashboard/production/customers">Customers</a></p>');
      expect([name, tabsOf(text)]).toEqual([name, ['Summary', ...others]]);
    }
    expect(tabsOf((await visitor.get(PATH)).text)).toEqual(['All customers', 'Find or erase', ...others]);
  });

  it('counts each entry once, however often the job runs', async () => {
    await logged(['user-1'], { statusCode: 500 });
    await Promise.all([job().update(), job().update()]);
    await job().update();
    expect(rowsOf((await visitor.get(PATH)).text).map(([, , , , failures]) => failures)).toEqual(['1']);
  });

  it.each([
    ['part', 'Partner-17'],
    ['ER-1', 'Partner-17'],
    ['17', 'Partner-17'],
    ['Ö', 'größe@例え.example'],
    ['例え', 'größe@例え.example'],
    ['100%', '100%_sure'],
    ['%_s', '100%_sure'],
  ])('finds %s in %s', async (part, user) => {
    await logged(['Partner-17', 'größe@例え.example', '100%_sure', 'another']);
    expect(await usersOn(`?search=${encodeURIComponent(part)}`)).toEqual([user]);
  });

  it('finds as many by the search at the top', async () => {
    await logged(['Partner-17', 'another']);
    const { text } = await visitor.get('/dashboard/production/search?q=ner-17');
    expect(rowsOf(text)).toEqual([['Customer', 'Partner-17']]);
  });

  it('has entries that a rotation moves while the job runs', async () => {
    await fillRequestLog(service, [
      loggedRequest(production, { externalUserId: 'user-moved', createdAt: ago(HOUR) }),
    ]);
    const [entry] = await service.database.query<{ partition: string }>(
      `SELECT tableoid::regclass::text AS partition FROM request_log WHERE external_user_id = 'user-moved'`,
    );
    // As a rotation does that finds rows in the default partition.
    await service.database.query(
      `CREATE TABLE request_log_stray_20260131t120000000000 (LIKE request_log);
       WITH moved AS (DELETE FROM ${entry?.partition} WHERE external_user_id = 'user-moved' RETURNING *)
       INSERT INTO request_log_stray_20260131t120000000000 SELECT * FROM moved`,
    );
    await logged(['user-meanwhile']);
    await service.database.query(
      `INSERT INTO request_log SELECT * FROM request_log_stray_20260131t120000000000;
       DROP TABLE request_log_stray_20260131t120000000000`,
    );
    await job().update();
    expect((await usersOn()).toSorted()).toEqual(['user-meanwhile', 'user-moved']);
  });

  it('goes on after entries of a client that exists no longer', async () => {
    await fillRequestLog(service, [
      loggedRequest(
        { clientId: randomUUID(), environment: 'production' },
        { externalUserId: 'user-of-nobody', statusCode: 500, createdAt: ago(HOUR) },
      ),
    ]);
    await logged(['user-after']);
    expect(await usersOn()).toEqual(['user-after']);
  });

  it('begins with the first entry that is kept, however many came before', async () => {
    await service.database.query(
      `DELETE FROM request_log; DELETE FROM customer_progress; SELECT setval('request_log_id_seq', 5000000000)`,
    );
    const statements = watchStatements(service);
    await logged(['user-1', 'user-2'], { createdAt: ago(29 * DAY) });
    expect(await usersOn()).toEqual(expect.arrayContaining(['user-1', 'user-2']));
    expect(statements.length).toBeLessThan(100);
    await service.database.query('DELETE FROM request_log; DELETE FROM customer_progress');
    await job().update();
    await logged(['user-3']);
    expect(await usersOn()).toContain('user-3');
  });

  it('gets few users in each transaction, because long identifiers take milliseconds each', async () => {
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms, external_user_id)
       SELECT $1, 'production', now() - interval '20 days', 'request', 'POST', '/events', 200, 1, 'user-' || n
         FROM generate_series(1, 1500) n`,
      [production.clientId],
    );
    await job().update();
    const [row] = await service.database.query<{ users: number; most: number }>(
      `SELECT sum(count)::integer AS users, max(count)::integer AS most
         FROM (SELECT count(*) FROM customer_search GROUP BY xmin::text) added`,
    );
    expect(row?.users).toBe(1500);
    expect(row?.most).toBeLessThanOrEqual(500);
  });

  it('finds nothing that has the letters in another order, and leads to each page', async () => {
    await logged(Array.from({ length: 120 }, (_, index) => `user-${String(index).padStart(3, '0')}`));
    const { text } = await visitor.get(`${PATH}?search=resu`);
    expect(text).toContain('No customer has an identifier that contains this text');
    const found: (string | undefined)[] = [];
    for (let path = `${PATH}?search=ser-`; path !== '';) {
      const page = await visitor.get(path);
      found.push(...rowsOf(page.text).map(([user]) => user));
      path = page.text.includes('Next page') ? linkTo('Next page', page.text) : '';
    }
    expect(found).toEqual(
      Array.from({ length: 120 }, (_, index) => `user-${String(index).padStart(3, '0')}`),
    );
  });

  it('says that customers who become active move to the first page, also while you look at a later one', async () => {
    await logged(Array.from({ length: 120 }, (_, index) => `user-${index}`));
    const first = await visitor.get(PATH);
    await logged(['user-119'], { createdAt: ago(0) });
    const later = rowsOf((await visitor.get(linkTo('Next page', first.text))).text).map(([user]) => user);
    expect(later).not.toContain('user-119');
    expect((await usersOn())[0]).toBe('user-119');
    expect(first.text).toContain('Customers who become active move to its first page.');
  });

  it('has only the customers of the environment and the organization', async () => {
    await logged(['user-1']);
    const { text } = await visitor.get(PATH.replace('production', 'development'));
    expect(text).toContain('No customers yet');
    const { id } = await service.anotherOrganization();
    const stranger = new Visitor(service);
    const { cookie } = await service.login('owner', id);
    stranger.cookies.set('session', cookie.replace('session=', ''));
    expect((await stranger.get(PATH)).text).toContain('No customers yet');
  });

  it('is the tab of pages that keep the customer', async () => {
    await logged(['user-1']);
    const one = await visitor.get('/dashboard/production/external-users?external_user_id=user-1');
    expect(linkTo('Customers', one.text.slice(one.text.indexOf('class="parent"')))).toBe(PATH);
    const accounts = linkTo('Merchant accounts', one.text);
    expect(accounts).toBe('/dashboard/production/merchant-accounts?external_user_id=user-1');
    const links = linkTo('Sign-in links', (await visitor.get(accounts)).text);
    expect(links).toBe('/dashboard/production/sign-in-links?external_user_id=user-1');
    expect((await visitor.get(links)).status).toBe(200);
  });

  it('shows nothing of a customer who is being erased, and forgets the customer', async () => {
    await logged(['person-1', 'person-2']);
    await erasuresOf(service).erase('person-1', service.production);
    const page = await visitor.get('/dashboard/production/external-users?external_user_id=person-1');
    expect(page.text).toContain('A user is being erased');
    expect(page.text).toMatch(/<dt>Since<\/dt><dd><time/);
    expect(page.text).toMatch(/<dt>Left<\/dt><dd>\d/);
    expect(page.text).not.toContain('Latest activity');
    await finishErasures(service);
    // The log does not bring the customer back.
    await service.database.query('UPDATE customer_progress SET seen_id = 0');
    await job().update();
    expect(await usersOn()).not.toContain('person-1');
    expect(await usersOn()).toContain('person-2');
    expect(await erasuresOf(service).tablesOf('person-1')).toEqual([]);
  });
});
