import { randomBytes } from 'node:crypto';
import { MerchantAccountsService } from '../../src/modules/merchant-accounts/index.js';
import { SignInLinksService } from '../../src/modules/sign-in-links/index.js';
import { EndedLinksJob } from '../../src/modules/sign-in-links/ended-links.job.js';
import { eventually } from '../support/eventually.js';
import { TestGateway } from '../support/merchant-gateway.js';
import { Program } from '../support/program.js';
import { rememberSecret } from '../support/run-directory.js';
import { NETFLIX, newAgent, textMessagesTo, type TestAgent } from '../support/sign-in-links.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor, type PageResponse } from '../support/visitor.js';

const PASSWORD = 'pass_good';

interface TestLink {
  readonly id: string;
  readonly agent: TestAgent;
  readonly path: string;
}

let gateway: TestGateway;
let service: TestApp;
let links: SignInLinksService;
let environment: Record<string, string>;

beforeAll(async () => {
  gateway = await TestGateway.start();
  environment = {
    ...BEHIND_PROXY,
    ...gateway.environment,
    SECRET_PEPPER: randomBytes(32).toString('base64'),
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  service = await startTestApp(environment);
  links = service.app.get(SignInLinksService);
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
  gateway.close();
});
beforeEach(() => gateway.reset());

async function newLink(): Promise<TestLink> {
  const agent = newAgent(service, service.production, service.organizationId, 'production');
  const { id } = await links.create(agent, NETFLIX.id);
  const [message] = textMessagesTo(service, agent.phoneNumber);
  const path = /\/sign-in\/\w+/.exec(message?.body ?? '')?.[0] ?? '';
  rememberSecret(path.slice('/sign-in/'.length));
  return { id, agent, path };
}

const credentials = (user_name: string, password = PASSWORD) => ({ action: 'sign_in', user_name, password });

async function send(
  path: string,
  fields: Record<string, string> = credentials('user_good'),
  visitor = new Visitor(service),
): Promise<PageResponse> {
  await visitor.get(path);
  const response = await visitor.submit(path, fields);
  return response.location === null ? response : visitor.get(response.location);
}

const titleOf = ({ text }: PageResponse): string => /<h1>([^<]*)<\/h1>/.exec(text)?.[1] ?? '';
const statusOf = async ({ agent, id }: TestLink): Promise<string> => (await links.find(agent, id)).status;
const rowOf = async ({ id }: TestLink) =>
  (
    await service.database.query<{ attempts: number; sign_in_id: string | null; session_id: string | null }>(
      'SELECT * FROM sign_in_link WHERE id = $1',
      [id],
    )
  )[0];
const accountsOf = async ({ agent }: TestLink) =>
  (await service.app.get(MerchantAccountsService).page(agent.client, agent.externalUserId, { limit: 10 }))
    .data;
const eventsOf = ({ agent }: TestLink) =>
  service.database.query<{ event: string; session_id: string }>(
    'SELECT event, session_id FROM webhook_event WHERE external_user_id = $1',
    [agent.externalUserId],
  );
/** The sign-ins that the gateway knows of this user. */
const signInsOf = ({ agent }: TestLink) =>
  [...gateway.example.signIns].filter(
    ([, { target }]) => (target as { external_user_id: string }).external_user_id === agent.externalUserId,
  );

/** Runs the job as if the link had expired, and no process were waiting for the gateway anymore. */
async function undoEndedSignIn(link: TestLink): Promise<void> {
  await service.database.query(
    `UPDATE sign_in_link SET sign_in_asked_at = now() - interval '1 minute', expires_at = least(expires_at, now())
      WHERE id = $1`,
    [link.id],
  );
  await service.app.get(EndedLinksJob).run();
}

/** Expects one account and one event of the only sign-in that the gateway knows. */
async function expectConnectedOnce(link: TestLink): Promise<void> {
  const [[signInId] = [], ...more] = signInsOf(link);
  expect(more).toEqual([]);
  expect(await statusOf(link)).toBe('completed');
  expect(await accountsOf(link)).toMatchObject([
    { merchant: NETFLIX, state: 'connected', session_id: signInId },
  ]);
  expect(await eventsOf(link)).toEqual([{ event: 'AUTHENTICATED', session_id: signInId }]);
  expect(await rowOf(link)).toMatchObject({ sign_in_id: null, session_id: signInId });
}

describe('A process that is killed between the success at the gateway and the commit', () => {
  async function killDuringSignIn(link: TestLink): Promise<void> {
    const program = new Program('main.js', {
      environment: {
        ...environment,
        DATABASE_URL: service.database.url,
        DATA_DIR: service.dataDirectory,
        PORT: '0',
      },
    });
    const [, baseUrl = ''] = await program.waitForOutput(/(http:\/\/[\w.]+:\d+)/);
    const visitor = new Visitor({ baseUrl: baseUrl.replace('localhost', '127.0.0.1') });
    await visitor.get(link.path);
    let isReached = false;
    gateway.beforeResponse = (path) => {
      if (path !== '/sign-ins') return Promise.resolve();
      isReached = true;
      return new Promise(() => undefined);
    };
    const lost = visitor.submit(link.path, credentials('user_good')).catch(() => 'lost');
    await eventually('the gateway has signed the user in', () => isReached || undefined);
    program.signal('SIGKILL');
    await program.ended;
    expect(await lost).toBe('lost');
    expect([await statusOf(link), signInsOf(link).length]).toEqual(['pending', 1]);
    await gateway.reset();
  }

  it('loses nothing: the user repeats the form, and there is one account and one event', async () => {
    const link = await newLink();
    await killDuringSignIn(link);
    expect(titleOf(await send(link.path))).toBe('You are signed in');
    await expectConnectedOnce(link);
  }, 60_000);

  it('leaves nothing at the gateway if the user does not come back', async () => {
    const link = await newLink();
    await killDuringSignIn(link);
    await undoEndedSignIn(link);
    expect([signInsOf(link), await accountsOf(link)]).toEqual([[], []]);
  }, 60_000);
});
