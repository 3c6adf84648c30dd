import { LoginAgent, returned, type OAuthResponse, type Tokens } from '../support/agents/agent-logins.js';
import { sendRpc, toolCall } from '../support/agents/agents.js';
import { killedDuring as killed, MOMENTS, type Moment } from '../support/programs/killed-processes.js';
import { Program } from '../support/programs/program.js';
import { newKeys, startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../support/pages/visitor.js';

let service: TestApp;
let environment: Record<string, string>;
let agent: LoginAgent;

beforeAll(async () => {
  environment = {
    ...BEHIND_PROXY,
    ...newKeys(),
  };
  service = await startTestApp(environment);
  agent = await LoginAgent.register(service);
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
});

const killedDuring = (moment: Moment, send: (baseUrl: string) => Promise<unknown>): Promise<void> =>
  killed(service, send, { moment, environment });

/** The same agent, whose requests go to another process. */
const agentAt = (baseUrl: string): LoginAgent =>
  LoginAgent.named(
    Object.create(service, { baseUrl: { value: baseUrl } }) as TestApp,
    agent.id,
    agent.redirectUri,
  );
const redeem = (at: LoginAgent, code: string): Promise<OAuthResponse<Tokens>> =>
  at.redeem(code, { code_verifier: agent.verifier });

async function connectionsOf(user: string): Promise<unknown[]> {
  const { body } = await service.request<{ data: unknown[] }>(`/agent-connections?external_user_id=${user}`, {
    as: service.development,
  });
  return body.data;
}

async function expectWorks({ access_token: token }: Tokens): Promise<void> {
  const { status } = await sendRpc(
    service,
    toolCall('get_connection_info'),
    { authorization: `Bearer ${token}` },
    `/mcp/${service.development.clientId}`,
  );
  expect(status).toBe(200);
}

/** Expects that the tokens work, and that the user has this connection only. */
async function expectConnectedOnce(user: string, { status, body }: OAuthResponse<Tokens>): Promise<void> {
  expect({ status, body }).toMatchObject({ status: 200 });
  await expectWorks(body);
  expect(await connectionsOf(user)).toHaveLength(1);
}

describe('A process that is killed while an agent logs in', () => {
  it.each(MOMENTS)('lets the user approve again (%s the commit of the consent)', async (moment) => {
    const user = `consent-${moment}`;
    const visitor = new Visitor(service);
    const page = await agent.logIn(visitor, user);
    await killedDuring(moment, async (baseUrl) => {
      const elsewhere = new Visitor({ baseUrl });
      for (const [name, value] of visitor.cookies) elsewhere.cookies.set(name, value);
      await elsewhere.fill(page, { action: 'approve' });
    });
    const repeated = await visitor.fill(page, { action: 'approve' });
    expect(await connectionsOf(user)).toEqual([]);
    await expectConnectedOnce(user, await agent.redeem(returned(repeated).get('code') ?? ''));
  });

  it.each(MOMENTS)('issues the tokens of a code once (%s the commit of the redemption)', async (moment) => {
    const user = `redemption-${moment}`;
    const code = (await agent.authorize(user)).get('code') ?? '';
    await killedDuring(moment, (baseUrl) => redeem(agentAt(baseUrl), code));
    await expectConnectedOnce(user, await agent.redeem(code));
  });

  it.each(MOMENTS)(
    'gives the next tokens to a repeated request (%s the commit of a refresh)',
    async (moment) => {
      const user = `refresh-${moment}`;
      const { refresh_token: token } = await agent.connect(user);
      await killedDuring(moment, (baseUrl) => agentAt(baseUrl).refresh(token));
      const repeated = await agent.refresh(token);
      await expectConnectedOnce(user, repeated);
      const [{ count } = { count: 0 }] = await service.database.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM agent_refresh_token JOIN agent_connection ON id = connection_id
        WHERE external_user_id = $1`,
        [user],
      );
      expect(count).toBe(2);
      const next = await agent.refresh(repeated.body.refresh_token);
      await expectConnectedOnce(user, next);
    },
  );
});
