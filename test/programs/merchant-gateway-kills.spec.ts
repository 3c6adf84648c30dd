import { eventually } from '../support/eventually.js';
import { gatewaySignIns, type TestLink } from '../support/merchants/gateway-sign-ins.js';
import { TestGateway } from '../support/merchants/merchant-gateway.js';
import { Program } from '../support/programs/program.js';
import { newKeys, startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../support/pages/visitor.js';

let gateway: TestGateway;
let service: TestApp;
let environment: Record<string, string>;

beforeAll(async () => {
  gateway = await TestGateway.start();
  environment = {
    ...BEHIND_PROXY,
    ...gateway.environment,
    ...newKeys(),
  };
  service = await startTestApp(environment);
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
  gateway.close();
});
beforeEach(() => gateway.reset());

const {
  newLink,
  credentials,
  send,
  titleOf,
  statusOf,
  accountsOf,
  signInsOf,
  undoEndedSignIn,
  expectConnectedOnce,
} = gatewaySignIns(() => ({ service, gateway }));

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
