import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { MerchantCatalogService } from '../../../src/modules/merchants/index.js';
import { auditedBy } from '../../support/logs/audited.js';
import { loggedIn, renewLogins, submitForm } from '../../support/pages/dashboard-forms.js';
import { error, invalidField, useTestApp, useLogin } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { visitorWithRole } from '../../support/pages/visitor.js';

const SEARCH = '/detected-accounts/search';

interface Merchant {
  readonly id: number;
  readonly name: string;
  readonly hidden: boolean;
}

const service = useTestApp();
const owner = useLogin(service, 'owner');
let netflix: Merchant;

beforeAll(async () => {
  netflix = (await list()).find(({ name }) => name === 'Netflix') as Merchant;
});
beforeEach(() => renewLogins(service));

const list = async (as = service.production): Promise<Merchant[]> =>
  (await service.request<Merchant[]>('/merchants', { as })).body;
const hiddenOf = async (as?: IssuedCredentials): Promise<string[]> =>
  (await list(as)).filter(({ hidden }) => hidden).map(({ name }) => name);
const change = (action: 'hide' | 'activate', id = netflix.id, login = owner) =>
  submitForm(service, login, `/dashboard/production/merchants/${id}/${action}`);
const openExport = (environment: string, login = owner, headers: Record<string, string> = {}) =>
  loggedIn(service, login).get(`/dashboard/${environment}/merchants/export`, headers);
const exported = async (environment = 'production'): Promise<{ headers: Headers; text: string }> => {
  const { status, headers, text } = await openExport(environment);
  expect(status).toBe(200);
  return { headers, text };
};

it('finds a merchant whose entry in the cache expires during the query for others', async () => {
  const catalog = service.app.get(MerchantCatalogService);
  await catalog.byIds([16]);
  const cache = Reflect.get(catalog, 'cache') as { clear(): void; delete(id: number): void };
  cache.delete(17);
  const found = catalog.byIds([16, 17]);
  cache.clear();
  expect([...(await found).keys()]).toEqual([16, 17]);
});

describe('Merchants', () => {
  it('are listed by name, and visible by default', async () => {
    const merchants = await list();
    expect(merchants.length).toBeGreaterThan(100);
    expect(netflix).toEqual({ id: expect.any(Number) as number, name: 'Netflix', hidden: false });
    const names = merchants.map(({ name }) => name.toLowerCase());
    expect(names.indexOf('adobe')).toBeLessThan(names.indexOf('netflix'));
    expect(await hiddenOf()).toEqual([]);
  });

  it('are hidden and activated per organization and environment', async () => {
    const { id, production } = await service.anotherOrganization();
    const otherOwner = await service.login('owner', id);
    expect((await change('hide')).status).toBe(303);
    expect(await hiddenOf()).toEqual(['Netflix']);
    expect(await hiddenOf(service.development)).toEqual([]);
    expect(await hiddenOf(production)).toEqual([]);
    expect((await change('activate', netflix.id, otherOwner)).status).toBe(303);
    expect(await hiddenOf()).toEqual(['Netflix']);
    expect((await change('activate')).status).toBe(303);
    expect(await hiddenOf()).toEqual([]);
  });

  it('are hidden and activated exactly once by 20 concurrent requests', async () => {
    const entries = await auditedBy(service, async () => {
      for (const action of ['hide', 'activate'] as const) {
        const responses = await Promise.all(Array.from({ length: 20 }, () => change(action)));
        for (const { status } of responses) expect(status).toBe(303);
        expect(await hiddenOf()).toEqual(action === 'hide' ? ['Netflix'] : []);
      }
    });
    expect(entries).toEqual(['merchant.hide success Netflix', 'merchant.activate success Netflix']);
  });

  it('are still found by searches for detected accounts while hidden', async () => {
    const body = { external_user_id: 'user-1', names: ['Netflix'] };
    const before = await service.request(SEARCH, { body, as: service.production });
    await change('hide');
    expect((await service.request(SEARCH, { body, as: service.production })).body).toEqual(before.body);
    await change('activate');
  });

  it('cannot be hidden if they do not exist', async () => {
    const { status, problem } = await change('hide', 123_456_789);
    expect([status, problem]).toEqual([404, 'There is no merchant with this id.']);
  });
});

describe('GET /merchants', () => {
  const ofClient = (query = '', as = service.production, headers = {}) =>
    service.request<Merchant[]>(`/merchants${query}`, { as, headers });

  it('returns the merchants in the environment of the client', async () => {
    await change('hide');
    for (const [as, environment] of [
      [service.production, 'production'],
      [service.development, 'development'],
    ] as const) {
      const expected = await list(as);
      for (const query of ['', `?environment=${environment}`]) {
        const { status, body } = await ofClient(query, as);
        expect([status, body]).toEqual([200, expected]);
      }
    }
    await change('activate');
  });

  it('rejects the other environment, and other parameters', async () => {
    for (const [query, status, expected] of [
      [
        '?environment=development',
        403,
        error('INVALID_REQUEST', 'ENVIRONMENT_MISMATCH', 'The environment must be that of the client.'),
      ],
      [
        '?environment=Production',
        400,
        invalidField('The selected environment is invalid. Allowed values: development, production.'),
      ],
      ['?environment=', 400, invalidField('The query parameter environment must not be blank.')],
      ['?hidden=true', 400, invalidField('The query parameter hidden is not known.')],
    ] as const) {
      const response = await ofClient(query);
      expect([response.status, response.body]).toEqual([status, expected]);
    }
  });

  it('ignores a login, and is written to the request log', async () => {
    const { production } = service;
    const before = await service.database.query('SELECT FROM request_log');
    expect((await ofClient('', production, { cookie: owner.cookie })).status).toBe(200);
    const wrong = { ...production, secret: 'wrong' };
    const refused = await ofClient('', wrong, { cookie: owner.cookie });
    expect([refused.status, refused.body]).toEqual([
      401,
      error('INVALID_INPUT', 'INVALID_API_KEYS', 'Invalid client_id or secret provided.'),
    ]);
    const entries = await service.database.query(
      'SELECT method, path, status_code, client_id FROM request_log ORDER BY created_at, id OFFSET $1',
      [before.length],
    );
    const logged = { method: 'GET', path: '/merchants', client_id: production.clientId };
    expect(entries).toEqual([
      { ...logged, status_code: 200 },
      { ...logged, status_code: 401 },
    ]);
  });

  it('tells a request without credentials to send Basic credentials', async () => {
    const { status, headers, body } = await service.request('/merchants');
    expect([status, body]).toEqual([401, expect.objectContaining({ error_code: 'INVALID_API_KEYS' })]);
    expect(headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  it('returns the usual errors', () => expectUsualErrors(service, '/merchants', 'merchant_visibility'));

  it('accepts no login', async () => {
    const { status, body } = await service.request('/merchants?environment=production', { login: owner });
    expect([status, body['error_code']]).toEqual([401, 'INVALID_API_KEYS']);
  });
});

describe('Export of merchants', () => {
  it('returns the list as CSV', async () => {
    await change('hide');
    await service.database.query(`INSERT INTO merchant (id, name) VALUES (20001, '=1,"2"')`);
    const { headers, text } = await exported();
    await service.database.query('DELETE FROM merchant WHERE id = 20001');
    await change('activate');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(
      'attachment; filename="test-organization-merchants-production.csv"',
    );
    const lines = text.trimEnd().split('\n');
    expect(lines[0]).toBe('id,name,hidden');
    expect(lines).toHaveLength((await list()).length + 2);
    expect(lines).toContain(`20001,"'=1,""2""",false`);
    expect(lines).toContain(`${netflix.id},Netflix,true`);
    expect((await exported('development')).text).toContain(`${netflix.id},Netflix,false\n`);
  });

  it.each([
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another host of the site', { 'sec-fetch-site': 'same-site' }],
    ['a page of another site in an older browser', { origin: 'https://attacker.example' }],
  ])('is denied to %s, without an audit log entry', async (_who, headers) => {
    const entries = await auditedBy(service, async () => {
      for (const login of [owner, await service.login('member')]) {
        expect((await openExport('production', login, headers)).status).toBe(403);
      }
    });
    expect(entries).toEqual([]);
  });

  it.each(['same-origin', 'none'])('is allowed if Sec-Fetch-Site is %s', async (site) => {
    const { status } = await openExport('production', owner, { 'sec-fetch-site': site });
    expect(status).toBe(200);
  });

  it('is recorded in the audit log every time', async () => {
    const entries = await auditedBy(service, async () => {
      await exported();
      await exported();
    });
    expect(entries).toEqual(['merchant.export success null', 'merchant.export success null']);
  });

  it('is recorded if the role does not allow it, and fails if nothing can be recorded', async () => {
    const member = await service.login('member');
    const entries = await auditedBy(service, async () => {
      expect((await openExport('production', member)).status).toBe(403);
    });
    expect(entries).toEqual(['merchant.export denied null']);
    await using _table = await service.database.hide('audit_log');
    expect((await openExport('production')).status).toBe(500);
  });
});

describe('The page of merchants', () => {
  it('hides several merchants, after it has named them', async () => {
    const visitor = await visitorWithRole(service, 'admin');
    const path = '/dashboard/development/merchants';
    expect((await visitor.get(path)).text).toContain('type="checkbox" name="selected" value="1"');
    const asked = await visitor.get(`${path}/hide?selected=none&selected=1&selected=6&selected=x`);
    expect(asked.text).toContain('<h1>Hide 2 merchants in development?</h1>');
    expect(asked.text).toContain('show them again: Amazon, Airbnb.');
    const sent = await visitor.submit(`${path}/hide`, { selected: '1,6' });
    expect(sent.location).toBe(`${path}?done=all_hidden`);
    const list = await visitor.get(`${path}?status=hidden`);
    expect([...list.text.matchAll(/id="merchant-(\d+)"/g)].map(([, id]) => id)).toEqual(
      expect.arrayContaining(['1', '6']),
    );
    expect(list.text).not.toContain('name="selected"');
    const names = await service.database.query<{ name: string }>(
      `SELECT target_name AS name FROM audit_log WHERE action = 'merchant.hide' ORDER BY sequence DESC LIMIT 2`,
    );
    expect(new Set(names.map(({ name }) => name))).toEqual(new Set(['Amazon', 'Airbnb']));
    expect((await visitor.get(`${path}/hide?selected=none`)).text).toContain('No merchant is selected');
    const viewer = await visitorWithRole(service, 'member');
    expect((await viewer.get(path)).text).not.toContain('name="selected"');
  });
});
