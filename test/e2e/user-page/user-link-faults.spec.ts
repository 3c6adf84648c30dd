import { randomUUID } from 'node:crypto';
import { MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { moveClock } from '../../support/clock.js';
import { startDatabaseAddress, type DatabaseAddress } from '../../support/database/database-address.js';
import { saveAgentSettings } from '../../support/pages/dashboard-forms.js';
import { sendForm } from '../../support/logins/device-flow.js';
import { eventually } from '../../support/eventually.js';
import { countedAttempts } from '../../support/database/full-disk.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { GOOD } from '../../support/merchants/sign-in-links.js';
import { countOf, useTestApp, type TestResponse } from '../../support/test-app.js';
import {
  complete,
  createLink,
  follow,
  goToLogin,
  logInFor,
  LOGIN_PAGE,
  newUser,
  pathOf,
  type BackendLink,
} from '../../support/agents/user-links.js';
import { BEHIND_PROXY, textOf, Visitor } from '../../support/pages/visitor.js';

let address: DatabaseAddress;
const service = useTestApp(
  { ...BEHIND_PROXY, DATABASE_CONNECT_TIMEOUT_MS: '2000', SIGN_IN_LINKS_PER_CLIENT_AND_DAY: '20' },
  { addressOf: async (url) => (address = await startDatabaseAddress(url)).url },
);
afterAll(() => address.close());

const PASSWORD = 'Your Netflix password';

beforeAll(async () => {
  const owner = await service.login('owner');
  const { status } = await saveAgentSettings(service, owner, {
    allowed_agents: 'any',
    login_url: LOGIN_PAGE,
  });
  expect(status).toBe(303);
});

async function newLink(): Promise<BackendLink & { readonly user: string }> {
  const user = newUser();
  const { status, body } = await createLink(service, { external_user_id: user });
  expect(status).toBe(200);
  return { ...body, user };
}

/** The pages for which users log in: the user, the page, and a text that only the user sees. */
const PAGES: readonly [string, () => Promise<{ user: string; path: string; text: string }>][] = [
  [
    'a link',
    async () => {
      const link = await newLink();
      return { user: link.user, path: pathOf(link), text: PASSWORD };
    },
  ],
  [
    'the page of the user',
    async () => ({
      user: newUser(),
      path: `/users/${service.development.clientId}`,
      text: 'No assistant can act for you.',
    }),
  ],
];

describe.each(PAGES)('The login of the partner for %s', (_name, prepare) => {
  it('can be repeated if the partner was down', async () => {
    const { user, path, text } = await prepare();
    const visitor = new Visitor(service);
    // The browser sees an error of the partner, and the user goes back.
    const first = await goToLogin(visitor, path);
    const second = await goToLogin(visitor, path);
    expect(second.id).not.toBe(first.id);
    const returned = await follow(visitor, (await complete(service, second.id, user)).path);
    expect(textOf(returned.page)).toContain(text);
    // The first login is still good for nothing but itself.
    const page = `/connections/${service.development.clientId}/authorizations/${first.id}`;
    expect(await visitor.get(page)).toMatchObject({ status: 409 });
  });

  it('is refused if the partner needed more than ten minutes, and can be repeated', async () => {
    const { user, path, text } = await prepare();
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, path);
    const page = `/connections/${service.development.clientId}/authorizations/${id}`;
    using _clock = moveClock(service, 10 * MINUTE + SECOND);
    expect((await complete(service, id, user)).status).toBe(409);
    const late = await visitor.get(page);
    expect([late.status, textOf(late)]).toEqual([410, expect.stringContaining('Open the link again.')]);
    const { page: returned } = await logInFor(service, visitor, path, user);
    expect(textOf(returned)).toContain(text);
  });

  it('is refused if the browser returns after ten minutes, and can be repeated', async () => {
    const { user, path, text } = await prepare();
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, path);
    const { path: back } = await complete(service, id, user);
    using _clock = moveClock(service, 10 * MINUTE + SECOND);
    const late = await follow(visitor, back);
    expect([late.page.status, textOf(late.page)]).toEqual([
      410,
      expect.stringContaining('Open the link again.'),
    ]);
    expect(textOf((await logInFor(service, visitor, path, user)).page)).toContain(text);
  });
});

/** Makes the database fail. @returns a function that ends the failure */
type Failure = () => Promise<() => Promise<unknown>>;

const FAILURES: readonly [string, Failure, { readonly canRead: boolean }][] = [
  [
    'silent',
    async () => {
      const resume = address.pause();
      return async () => resume();
    },
    { canRead: false },
  ],
  [
    'read-only',
    async () => {
      const name = new URL(service.database.url).pathname.slice(1);
      const change = (change: string) =>
        service.database.query(`BEGIN READ WRITE; ALTER DATABASE ${name} ${change}; COMMIT`);
      await change('SET default_transaction_read_only = on');
      address.cut();
      return async () => {
        await change('RESET default_transaction_read_only');
        address.cut();
      };
    },
    { canRead: true },
  ],
];

describe.each(FAILURES)('While the database is %s', (_name, begin, { canRead }) => {
  /**
   * Says how a request failed that writes nothing. The service leaves a server that refuses a write, also with what it reads at that
   * moment.
   */
  const readingOf = ({ status }: { readonly status: number }): unknown =>
    canRead && status === 200 ? 503 : status;

  it('links, logins and keys fail for the time being, and nothing is lost or counted', async () => {
    const { clientId } = service.development;
    const issued = await service.app
      .get(ApiKeysService)
      .create(clientId, { name: randomUUID(), scopes: ['sign_in_links:write', 'sign_in_links:read'] });
    rememberSecret(issued.token);
    const secret = service.development;
    const key: IssuedCredentials = { ...service.development, secret: issued.token };
    const link = await newLink();
    const read = (as: IssuedCredentials) => service.request(`/sign-in-links/${link.id}`, { as });
    expect([(await read(secret)).status, (await read(key)).status]).toEqual([200, 200]);
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, pathOf(link));
    const idempotent = new Map([secret, key].map((as) => [as, { 'idempotency-key': randomUUID() }]));
    const user = newUser();
    const create = (as: IssuedCredentials) =>
      createLink(service, { external_user_id: user }, as, idempotent.get(as));
    const token = () => sendForm(service, '/oauth/token', { grant_type: 'client_credentials' }, { as: key });
    const attempts = await countedAttempts(service);

    const end = await begin();
    try {
      for (let round = 0; round < 2; round += 1) {
        const [readings, shown, tokens] = await Promise.all([
          Promise.all([secret, key].map(read)),
          new Visitor(service).get(pathOf(link)),
          token(),
        ]);
        const [created, completed, login] = await Promise.all([
          Promise.all([secret, key].map(create)),
          complete(service, id, link.user),
          visitor.submit(pathOf(link), { action: 'log_in' }),
        ]);
        expect(created.map(({ headers }) => headers.has('retry-after'))).toEqual([true, true]);
        const statuses = [...created, completed, login].map(({ status }) => status);
        expect([...statuses, ...[...readings, shown, tokens].map(readingOf)]).toEqual(Array(8).fill(503));
      }
    } finally {
      await end();
    }
    await eventually('it is ready', async () => (await service.request('/readyz')).status === 200);

    expect(await countedAttempts(service)).toBe(attempts);
    const links: TestResponse<BackendLink>[] = [];
    for (const as of [secret, key, secret, key]) links.push(await create(as));
    expect(links.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(links.map(({ body }) => body.id)).toEqual([0, 1, 0, 1].map((index) => links[index]?.body.id));
    const rows = await service.database.query('SELECT FROM sign_in_link WHERE external_user_id = $1', [user]);
    expect(rows).toHaveLength(2);
    expect((await token()).status).toBe(200);
    const { page, path } = await follow(visitor, (await complete(service, id, link.user)).path);
    expect(textOf(page)).toContain(PASSWORD);
    expect(await visitor.submit(path, GOOD)).toMatchObject({ status: 303 });
    expect((await read(key)).body).toMatchObject({ status: 'completed' });
  }, 120_000);
});

describe('A flood of links for one user', () => {
  it('counts those that are refused toward no limit of other users', async () => {
    const { development: as } = await service.anotherOrganization();
    const create = (user: string) => createLink(service, { external_user_id: user }, as);
    const flood = await Promise.all(Array.from({ length: 60 }, () => create('flooded')));
    expect([countOf(flood, 200), countOf(flood, 429)]).toEqual([5, 55]);
    const others = await Promise.all(Array.from({ length: 16 }, (_, index) => create(`user-${index}`)));
    expect([countOf(others, 200), countOf(others, 429)]).toEqual([15, 1]);
  });
});
