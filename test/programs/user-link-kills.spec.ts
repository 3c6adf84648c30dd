import { saveAgentSettings } from '../support/pages/dashboard-forms.js';
import { killedDuring, MOMENTS } from '../support/programs/killed-processes.js';
import { Program } from '../support/programs/program.js';
import { GOOD } from '../support/merchants/sign-in-links.js';
import { basic, newKeys, startTestApp, type TestApp } from '../support/test-app.js';
import {
  complete,
  createLink,
  follow,
  goToLogin,
  logInFor,
  LOGIN_PAGE,
  newUser,
  pathOf,
} from '../support/agents/user-links.js';
import { BEHIND_PROXY, textOf, Visitor } from '../support/pages/visitor.js';

const PASSWORD = 'Your Netflix password';

const environment = { ...BEHIND_PROXY, ...newKeys() };
let service: TestApp;

beforeAll(async () => {
  service = await startTestApp(environment);
  const fields = { allowed_agents: 'any', login_url: LOGIN_PAGE };
  expect((await saveAgentSettings(service, await service.login('owner'), fields)).status).toBe(303);
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
});

/** The same browser, whose requests go to another process. */
function elsewhere(baseUrl: string, { cookies }: Visitor): Visitor {
  const visitor = new Visitor({ baseUrl });
  for (const [name, value] of cookies) visitor.cookies.set(name, value);
  return visitor;
}

const newLink = async (): Promise<{ readonly user: string; readonly id: string; readonly path: string }> => {
  const user = newUser();
  const { body } = await createLink(service, { external_user_id: user });
  return { user, id: body.id, path: pathOf(body) };
};

/** The pages for which users log in, and a text that only the user sees. */
const PAGES: readonly [string, () => Promise<{ user: string; path: string; text: string }>][] = [
  ['a link', async () => ({ ...(await newLink()), text: PASSWORD })],
  [
    'the page of the user',
    async () => ({
      user: newUser(),
      path: `/users/${service.development.clientId}`,
      text: 'No assistant can act for you.',
    }),
  ],
];

describe.each(PAGES)('A process that is killed while a user logs in for %s', (_name, prepare) => {
  it.each(MOMENTS)('gives the same response to a repeated completion (%s it was stored)', async (moment) => {
    const { user, path, text } = await prepare();
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, path);
    const send = (baseUrl: string): Promise<unknown> =>
      fetch(`${baseUrl}/mcp/authorizations/${id}/complete`, {
        method: 'POST',
        headers: { authorization: basic(service.development), 'content-type': 'application/json' },
        body: JSON.stringify({ external_user_id: user }),
      });
    await killedDuring(service, send, {
      moment,
      environment,
      statements: ['UPDATE "agent_authorization"'],
    });
    const repeated = [await complete(service, id, user), await complete(service, id, user)];
    expect(repeated.map(({ status }) => status)).toEqual([200, 200]);
    expect(repeated[1]).toEqual(repeated[0]);
    expect((await complete(service, id, newUser())).status).toBe(409);
    expect(textOf((await follow(visitor, repeated[0]?.path ?? '')).page)).toContain(text);
  });

  it.each(MOMENTS)('lets the browser return again (%s the commit of its return)', async (moment) => {
    const { user, path, text } = await prepare();
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, path);
    const { path: back } = await complete(service, id, user);
    const send = (baseUrl: string): Promise<unknown> => elsewhere(baseUrl, visitor).get(back);
    await killedDuring(service, send, { moment, environment });
    expect(textOf((await follow(visitor, back)).page)).toContain(text);
  });
});

describe('A process that is killed while a user signs in with a link', () => {
  it.each(MOMENTS)('connects the account once (%s the commit that completes the link)', async (moment) => {
    const { user, id, path } = await newLink();
    const visitor = new Visitor(service);
    const { path: form } = await logInFor(service, visitor, path, user);
    const send = (baseUrl: string): Promise<unknown> => elsewhere(baseUrl, visitor).fill(form, GOOD);
    await killedDuring(service, send, {
      moment,
      environment,
      statements: ['INSERT INTO "session"', 'COMMIT'],
    });
    expect((await visitor.submit(form, GOOD)).status).toBe(303);
    const { body } = await service.request(`/sign-in-links/${id}`, { as: service.development });
    expect(body).toMatchObject({ status: 'completed' });
    const events = await service.database.query(
      `SELECT FROM webhook_event WHERE external_user_id = $1 AND convert_from(body, 'UTF8') LIKE '%AUTHENTICATED%'`,
      [user],
    );
    expect(events).toHaveLength(1);
  });
});
