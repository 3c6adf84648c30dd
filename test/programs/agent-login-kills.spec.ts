import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { LoginAgent, returned, type OAuthResponse, type Tokens } from '../support/agent-logins.js';
import { sendRpc, toolCall } from '../support/agents.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/program.js';
import { newKeys, startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../support/visitor.js';

/** The process dies before PostgreSQL gets its COMMIT, or after PostgreSQL has committed and before the response. */
type Moment = 'before' | 'after';
const MOMENTS: Moment[] = ['before', 'after'];

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

/** Lies between a process and PostgreSQL, and holds back the next COMMIT, or the response to it. */
class CommitHolder {
  moment: Moment | undefined;
  hasHeld = false;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => {
    const { hostname, port } = new URL(service.database.url);
    const postgres = connect(Number(port), hostname);
    let isHeld = false;
    client.on('data', (bytes: Buffer) => {
      if (this.moment !== undefined && bytes.includes('COMMIT')) {
        isHeld = true;
        this.hasHeld = true;
        if (this.moment === 'before') return;
      }
      postgres.write(bytes);
    });
    postgres.on('data', (bytes: Buffer) => {
      if (!isHeld) client.write(bytes);
    });
    for (const socket of [client, postgres]) {
      this.sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => [client, postgres].forEach((each) => each.destroy()));
    }
  });

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const url = new URL(service.database.url);
    url.port = String((this.server.address() as AddressInfo).port);
    url.hostname = '127.0.0.1';
    return url.href;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

/** Sends a request to a process of its own, which is killed at that moment. */
async function killedDuring(moment: Moment, send: (baseUrl: string) => Promise<unknown>): Promise<void> {
  const holder = new CommitHolder();
  const program = new Program('main.js', {
    environment: {
      ...environment,
      DATABASE_URL: await holder.start(),
      DATA_DIR: service.dataDirectory,
      PORT: '0',
      BACKGROUND_WORK: 'off',
    },
  });
  const [, port = ''] = await program.waitForOutput(/Listening on http:\/\/[\w.]+:(\d+)/);
  holder.moment = moment;
  const lost = send(`http://127.0.0.1:${port}`).catch(() => 'lost');
  await eventually('the process commits', () => holder.hasHeld || undefined);
  program.signal('SIGKILL');
  expect(await lost).toBe('lost');
  await program.ended;
  holder.close();
  // PostgreSQL ends an open transaction when it notices that its client is gone.
  await eventually('no transaction of the process is open', async () => {
    const open = await service.database.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    return open.length === 0 || undefined;
  });
}

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
