import { generateKeyPairSync, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { MerchantGatewayService } from '../../../src/modules/merchant-gateway/index.js';
import { MerchantSignOutsJob } from '../../../src/modules/merchant-gateway/merchant-sign-outs.job.js';
import { MerchantSignOutsRepository } from '../../../src/modules/merchant-gateway/merchant-sign-outs.repository.js';
import { MerchantStatusesService } from '../../../src/modules/merchant-statuses/index.js';
import { EndedLinksJob } from '../../../src/modules/sign-in-links/ended-links.job.js';
import { SignInLinkCreationService, SignInLinksService } from '../../../src/modules/sign-in-links/index.js';
import { CLIENTS, mcpToken, sendRpc, toolCall } from '../../support/agents/agents.js';
import { gatewaySignIns, PASSWORD, type TestLink } from '../../support/merchants/gateway-sign-ins.js';
import { TestGateway, type Fault } from '../../support/merchants/merchant-gateway.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { NETFLIX, newAgent, textMessagesTo } from '../../support/merchants/sign-in-links.js';
import { newKeys, startTestApp, type TestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor, type PageResponse } from '../../support/pages/visitor.js';

/** Milliseconds instead of 30 seconds. */
const DEADLINE = 1_500;
const WRONG_PASSWORD = `wrong-${randomBytes(8).toString('hex')}`;
const WRONG_CODE = `9${randomBytes(8).toString('hex')}`;

let gateway: TestGateway;
let service: TestApp;
let links: SignInLinksService;
let environment: Record<string, string>;

beforeAll(async () => {
  rememberSecret(WRONG_PASSWORD, WRONG_CODE);
  gateway = await TestGateway.start();
  environment = {
    ...BEHIND_PROXY,
    ...gateway.environment,
    ...newKeys(),
  };
  service = await startTestApp(environment);
  links = service.app.get(SignInLinksService);
  Object.assign(Reflect.get(service.app.get(MerchantGatewayService), 'client') as object, {
    deadline: DEADLINE,
  });
});
afterAll(async () => {
  await service.close();
  gateway.close();
});
/** Each test begins with a gateway that responds, and with no circuit that an earlier test has opened. */
beforeEach(async () => {
  await gateway.reset();
  for (const name of ['circuit', 'circuitOfUndo'])
    (Reflect.get(service.app.get(MerchantGatewayService), name) as { succeed(): void }).succeed();
});

const {
  newLink,
  credentials,
  send,
  titleOf,
  statusOf,
  rowOf,
  accountsOf,
  eventsOf,
  signInsOf,
  sendSignOuts,
  undoEndedSignIn,
  expectConnectedOnce,
} = gatewaySignIns(() => ({ service, gateway }));

describe('A sign-in through the merchant gateway', () => {
  it('connects the account, and the gateway gets the password encrypted', async () => {
    const link = await newLink();
    expect(titleOf(await send(link.path))).toBe('You are signed in');
    await expectConnectedOnce(link);
    const body = gateway.requests.find(({ path }) => path === '/sign-ins')?.body ?? '';
    expect(JSON.parse(body)).toEqual({
      sign_in_id: expect.any(String) as string,
      environment: 'production',
      client_id: service.production.clientId,
      merchant_id: NETFLIX.id,
      external_user_id: link.agent.externalUserId,
      credentials: expect.stringMatching(/^[\w-]+(?:\.[\w-]+){4}$/) as string,
    });
    expect(body).not.toContain(PASSWORD);
    await undoEndedSignIn(link);
    expect(signInsOf(link)).toHaveLength(1);
  });

  it('asks for a one-time code, and accepts another one after a wrong one', async () => {
    const link = await newLink();
    const page = await send(link.path, credentials('user_otp'));
    expect(titleOf(page)).toBe('Enter the code from Netflix');
    expect(page.text).toContain('phone ending in 55');
    expect((await send(link.path, { action: 'code', code: WRONG_CODE })).status).toBe(400);
    expect(titleOf(await send(link.path, { action: 'code', code: '123456' }))).toBe('You are signed in');
    await expectConnectedOnce(link);
    expect(JSON.stringify(gateway.requests)).not.toContain(WRONG_CODE);
  });

  it('shows what the merchant refuses, and the same user can try again', async () => {
    const link = await newLink();
    expect((await send(link.path, credentials('user_good', WRONG_PASSWORD))).status).toBe(400);
    expect(await rowOf(link)).toMatchObject({ attempts: 1, sign_in_id: null });
    expect(titleOf(await send(link.path))).toBe('You are signed in');
    const locked = await newLink();
    expect(titleOf(await send(locked.path, credentials('user_locked')))).toBe('The sign-in failed');
    expect([await statusOf(locked), await accountsOf(locked)]).toEqual(['failed', []]);
  });

  it('asks the merchant once for the same form sent 20 times at once', async () => {
    const link = await newLink();
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    await Promise.all(
      Array.from({ length: 20 }, () => visitor.copy().submit(link.path, credentials('user_good'))),
    );
    await expectConnectedOnce(link);
    await undoEndedSignIn(link);
    expect(signInsOf(link)).toHaveLength(1);
  });

  it.each<[string, Fault]>([
    ['hangs', 'hang'],
    ['responds with 500', 'error'],
    ['responds with garbage', 'garbage'],
    ['responds with 10 MB', 'huge'],
    ['closes the connection', 'reset'],
    ['is down', 'down'],
  ])('can be repeated after the gateway %s, and other requests are not delayed', async (_, fault) => {
    const link = await newLink();
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    await gateway.fail(fault);
    let isDone = false;
    const submitted = visitor.submit(link.path, credentials('user_good')).finally(() => (isDone = true));
    const during = await service.request('/merchant-accounts?external_user_id=other', {
      as: service.production,
    });
    expect(during.status).toBe(200);
    if (fault === 'hang') expect(isDone).toBe(false);
    const page = await submitted;
    expect([page.status, titleOf(page)]).toEqual([503, 'Netflix did not respond']);
    expect([await statusOf(link), (await rowOf(link))?.attempts]).toEqual(['pending', 0]);
    await gateway.reset();
    expect(titleOf(await send(link.path))).toBe('You are signed in');
    await expectConnectedOnce(link);
  });

  it('has the outcome of the first request if its response was lost', async () => {
    const link = await newLink();
    gateway.beforeResponse = (path) =>
      path === '/sign-ins' ? Promise.reject(new Error('lost')) : Promise.resolve();
    expect((await send(link.path)).status).toBe(503);
    expect(signInsOf(link)).toHaveLength(1);
    await gateway.reset();
    expect(titleOf(await send(link.path))).toBe('You are signed in');
    await expectConnectedOnce(link);
  });

  it('has the outcome of the first request if the response to its code was lost', async () => {
    const link = await newLink();
    await send(link.path, credentials('user_otp'));
    gateway.beforeResponse = (path) =>
      path.endsWith('/code') ? Promise.reject(new Error('lost')) : Promise.resolve();
    expect((await send(link.path, { action: 'code', code: '123456' })).status).toBe(503);
    await gateway.reset();
    expect(titleOf(await send(link.path, { action: 'code', code: '123456' }))).toBe('You are signed in');
    await expectConnectedOnce(link);
  });

  it('is encrypted again if the gateway replaced its key after the form was shown', async () => {
    const link = await newLink();
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    await gateway.example.rotate();
    expect((await visitor.submit(link.path, credentials('user_good'))).location).toContain('done=completed');
    await expectConnectedOnce(link);
    expect(gateway.requestsTo('POST', '/sign-ins')).toBe(2);
    const withCode = await newLink();
    await send(withCode.path, credentials('user_otp'));
    await gateway.example.rotate();
    expect(titleOf(await send(withCode.path, { action: 'code', code: '123456' }))).toBe('You are signed in');
    await expectConnectedOnce(withCode);
  });

  it.each<[string, () => object]>([
    ['belongs to somebody else', () => jwkOf(2048)],
    ['is too short', () => jwkOf(1024)],
    [
      'is private',
      () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
    ],
    ['is not for RSA', () => generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })],
  ])('is never sent without encryption if the key %s', async (_, key) => {
    const link = await newLink();
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    gateway.keys = { keys: [key()] };
    await gateway.example.rotate();
    const page = await visitor.submit(link.path, credentials('user_good', PASSWORD));
    expect([page.status, titleOf(page)]).toEqual([503, 'Netflix did not respond']);
    expect([signInsOf(link), await statusOf(link)]).toEqual([[], 'pending']);
    expect(JSON.stringify(gateway.requests)).not.toContain(PASSWORD);
  });

  it.each([{ use: 'sig' }, { alg: 'RSA-OAEP' }, { kty: 'EC' }])(
    'is not encrypted with a key that has %j',
    async (property) => {
      const link = await newLink();
      gateway.changeKey = (key) => ({ ...key, ...property });
      await gateway.example.rotate();
      expect((await send(link.path)).status).toBe(503);
      expect([signInsOf(link), await statusOf(link)]).toEqual([[], 'pending']);
    },
  );
});

function jwkOf(modulusLength: number): object {
  return generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' });
}

describe('A sign-in whose link has ended', () => {
  it('is undone at once if the gateway responds after the link has expired', async () => {
    const link = await newLink();
    gateway.beforeResponse = async (path) => {
      if (path !== '/sign-ins') return;
      await service.database.query('UPDATE sign_in_link SET expires_at = now() WHERE id = $1', [link.id]);
    };
    expect(titleOf(await send(link.path))).toBe('This link has expired');
    expect([signInsOf(link), await accountsOf(link), await eventsOf(link)]).toEqual([[], [], []]);
    expect((await rowOf(link))?.sign_in_id).toBeNull();
  });

  it('is undone after the end of its link, although the clock was ahead at the last request about it', async () => {
    const link = await newLink();
    await send(link.path, credentials('user_otp'));
    await service.database.query(
      `UPDATE sign_in_link SET sign_in_asked_at = now() + interval '1 day', expires_at = now() WHERE id = $1`,
      [link.id],
    );
    await service.app.get(EndedLinksJob).run();
    expect(await rowOf(link)).toMatchObject({ sign_in_id: null });
    await sendSignOuts();
    expect(signInsOf(link)).toEqual([]);
  });

  it('is undone by the job if the gateway did not respond to the first attempt to undo it', async () => {
    const link = await newLink();
    gateway.beforeResponse = async (path) => {
      if (path !== '/sign-ins') return;
      await links.cancel(link.agent, link.id);
      await gateway.fail('hang');
    };
    expect(titleOf(await send(link.path))).toBe('This link was cancelled');
    expect(signInsOf(link)).toHaveLength(1);
    await undoEndedSignIn(link);
    expect(signInsOf(link)).toHaveLength(1);
    await gateway.reset();
    // The job asks again only after a while.
    await service.app.get(MerchantSignOutsJob).run();
    expect(signInsOf(link)).toHaveLength(1);
    await undoEndedSignIn(link);
    expect(signInsOf(link)).toEqual([]);
    await undoEndedSignIn(link);
    expect(gateway.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it.each([200, 202, 410])('is undone also if the gateway responds with %d', async (status) => {
    const link = await newLink();
    await send(link.path, credentials('user_otp'));
    await send(link.path, { action: 'decline' });
    gateway.undoStatus = status;
    await undoEndedSignIn(link);
    await undoEndedSignIn(link);
    expect(gateway.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it('is ended at the gateway if it still waits for a code', async () => {
    const link = await newLink();
    await send(link.path, credentials('user_otp'));
    await send(link.path, { action: 'decline' });
    expect(signInsOf(link)).toHaveLength(1);
    await undoEndedSignIn(link);
    expect(signInsOf(link)).toEqual([]);
  });
});

describe('A sign-in that the user replaces by entering credentials again', () => {
  const loseResponseTo = (step: string): void => {
    gateway.beforeResponse = (path) =>
      path.endsWith(step) ? Promise.reject(new Error('lost')) : Promise.resolve();
  };

  it('is undone if it succeeded and the response to its code was lost', async () => {
    const link = await newLink();
    await send(link.path, credentials('user_otp'));
    loseResponseTo('/code');
    expect((await send(link.path, { action: 'code', code: '123456' })).status).toBe(503);
    const [[replaced, { response }] = ['', { response: {} }]] = signInsOf(link);
    expect(response).toEqual({ outcome: 'succeeded' });
    await gateway.reset();
    expect(titleOf(await send(link.path))).toBe('You are signed in');
    expect(signInsOf(link)).toHaveLength(2);
    // A process may still be waiting for the response to the code.
    await service.app.get(MerchantSignOutsJob).run();
    expect(signInsOf(link)).toHaveLength(2);
    await sendSignOuts();
    expect(gateway.requestsTo('DELETE', `/sign-ins/${replaced}`)).toBe(1);
    await expectConnectedOnce(link);
    expect(await service.database.query('SELECT FROM merchant_sign_out')).toEqual([]);
  });

  it('does not connect the account if its response arrives afterwards', async () => {
    const link = await newLink();
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    await visitor.submit(link.path, credentials('user_otp'));
    const replacing: PageResponse[] = [];
    gateway.beforeResponse = async (path) => {
      if (path.endsWith('/code')) replacing.push(await send(link.path, credentials('user_otp')));
    };
    await visitor.submit(link.path, { action: 'code', code: '123456' });
    expect(replacing.map(titleOf)).toEqual(['Enter the code from Netflix']);
    expect([await statusOf(link), await accountsOf(link), await eventsOf(link)]).toEqual(['pending', [], []]);
    await sendSignOuts();
    await gateway.reset();
    expect(titleOf(await send(link.path, { action: 'code', code: '123456' }))).toBe('You are signed in');
    await expectConnectedOnce(link);
  });
});

describe('POST /accounts/unlink', () => {
  const unlink = ({ agent }: TestLink, as = service.production) =>
    service.request('/accounts/unlink', {
      body: { external_user_id: agent.externalUserId, merchant_id: NETFLIX.id },
      as,
    });
  const tellGateway = (): Promise<void> => service.app.get(MerchantSignOutsJob).run();

  it('disconnects the account, ends the sign-in at the gateway, and sends no event', async () => {
    const link = await newLink();
    await send(link.path);
    const [account] = await accountsOf(link);
    const { status, body } = await unlink(link);
    expect([status, body]).toMatchObject([
      200,
      { merchant: NETFLIX, state: 'disconnected', session_id: account?.session_id },
    ]);
    expect(JSON.parse(JSON.stringify(await accountsOf(link)))).toEqual([body]);
    expect(await eventsOf(link)).toHaveLength(1);
    await tellGateway();
    expect(signInsOf(link)).toEqual([]);
    expect(await service.database.query('SELECT FROM merchant_sign_out')).toEqual([]);
  });

  it('tells the gateway first what it was never told, and keeps its failures from users', async () => {
    const repository = service.app.get(MerchantSignOutsRepository);
    const gatewayService = service.app.get(MerchantGatewayService);
    const [failed, never] = [randomUUID(), randomUUID()];
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const { clientId } = service.production;
    await repository.add([{ clientId, signInId: failed, askedAt: minutesAgo(2) }], minutesAgo(10));
    await repository.add([{ clientId, signInId: never }], minutesAgo(1));
    expect(await repository.claim(minutesAgo(1), new Date(), 1)).toEqual([never]);
    await gateway.fail('error');
    for (let request = 0; request < 6; request += 1) await gatewayService.undo(failed);
    expect(gatewayService.isProbablyAvailable).toBe(true);
    await service.database.query('DELETE FROM merchant_sign_out');
    // A process whose clock was ahead has asked about it.
    await repository.add([{ clientId, signInId: failed, askedAt: minutesAgo(-2 * 24 * 60) }], minutesAgo(10));
    expect(await repository.claim(minutesAgo(1), new Date(), 1)).toEqual([failed]);
    await service.database.query('DELETE FROM merchant_sign_out');
  });

  it('tells the gateway about all clients in turns, without a pause', async () => {
    const repository = service.app.get(MerchantSignOutsRepository);
    const ids = Array.from({ length: 62 }, () => randomUUID());
    const [others, firsts] = [ids.slice(0, 60), ids.slice(60)];
    const of = (clientId: string, signInIds: string[]) =>
      signInIds.map((signInId) => ({ clientId, signInId }));
    await repository.add(of(service.production.clientId, others), new Date(Date.now() - 60_000));
    await repository.add(of(randomUUID(), firsts), new Date());
    await tellGateway();
    const told = gateway.requests
      .filter(({ method }) => method === 'DELETE')
      .map(({ path }) => path.split('/').at(-1));
    expect(told.toSorted()).toEqual(ids.toSorted());
    expect(told.slice(0, 20)).toEqual(expect.arrayContaining(firsts));
  });

  it('succeeds without a gateway that responds, which is told later', async () => {
    const link = await newLink();
    await send(link.path);
    await gateway.fail('error');
    expect((await unlink(link)).status).toBe(200);
    await tellGateway();
    await gateway.reset();
    // Only after a while.
    await tellGateway();
    expect(signInsOf(link)).toHaveLength(1);
    await sendSignOuts();
    expect(signInsOf(link)).toEqual([]);
  });

  it('reaches the gateway from processes that lack its settings, which leave the work to others', async () => {
    const link = await newLink();
    await send(link.path);
    const gatewayService = service.app.get(MerchantGatewayService);
    const client: unknown = Reflect.get(gatewayService, 'client');
    // As without MERCHANT_GATEWAY_URL.
    Reflect.set(gatewayService, 'client', undefined);
    const { status } = await unlink(link);
    await tellGateway();
    Reflect.set(gatewayService, 'client', client);
    expect(status).toBe(200);
    expect(signInsOf(link)).toHaveLength(1);
    await tellGateway();
    expect(signInsOf(link)).toEqual([]);
  });

  it('succeeds once of 20 concurrent requests', async () => {
    const link = await newLink();
    expect((await unlink(link)).body).toMatchObject({ error_code: 'MERCHANT_ACCOUNT_NOT_FOUND' });
    await send(link.path);
    expect((await unlink(link, service.development)).status).toBe(404);
    const responses = await Promise.all(Array.from({ length: 20 }, () => unlink(link)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)]);
    expect(responses.find(({ status }) => status === 409)?.body).toMatchObject({
      error_type: 'MERCHANT_ACCOUNT_ERROR',
      error_code: 'MERCHANT_ACCOUNT_DISCONNECTED',
    });
    await tellGateway();
  });
});

describe('The availability of merchants', () => {
  const isAvailable = (): Promise<boolean> =>
    newLink().then(
      () => true,
      (error: { code?: string }) => {
        expect(error.code).toBe('MERCHANT_UNAVAILABLE');
        return false;
      },
    );

  it('depends on the status of the merchant', async () => {
    const statuses = service.app.get(MerchantStatusesService);
    const link = await newLink();
    await statuses.set(String(NETFLIX.id), { type: 'link', status: 'DOWN' });
    try {
      expect(await isAvailable()).toBe(false);
      expect(titleOf(await new Visitor(service).get(link.path))).toBe('Netflix is not available');
    } finally {
      await statuses.set(String(NETFLIX.id), { type: 'link', status: 'UP' });
    }
    expect(await isAvailable()).toBe(true);
  });

  it('ends after five failures in a row, and returns when the gateway responds again', async () => {
    const link = await newLink();
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    await gateway.fail('error');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect((await visitor.submit(link.path, credentials('user_good'))).status).toBe(503);
    }
    const { length } = gateway.requests;
    expect(titleOf(await visitor.get(link.path))).toBe('Netflix is not available');
    expect(await isAvailable()).toBe(false);
    const token = await mcpToken(service, 'circuit', { as: service.production });
    const info = await sendRpc(service, toolCall('get_connection_info'), {
      authorization: `Bearer ${token}`,
    });
    expect(info.message?.result?.['structuredContent']).toMatchObject({
      can_create_sign_in_links: false,
      reason: expect.stringContaining('not'),
    });
    expect(gateway.requests).toHaveLength(length);
    await gateway.reset();
    Object.assign(Reflect.get(service.app.get(MerchantGatewayService), 'circuit') as object, { retryAt: 0 });
    expect(await isAvailable()).toBe(true);
    expect(titleOf(await send(link.path))).toBe('You are signed in');
  });
});

it.each(Object.entries(CLIENTS))(
  'An agent connects an account in production, and sees that the merchant ends the sign-in (%s)',
  async (name, connect) => {
    const user = `user of ${name}`;
    const phone_number = `+1212555${randomInt(1_000, 9_999)}`;
    const token = await mcpToken(service, user, { as: service.production, phone_number });
    const agent = await connect(service.baseUrl, token);
    expect(await agent.tools()).toContain('create_sign_in_link');
    expect(await agent.result('get_connection_info')).toMatchObject({
      environment: 'production',
      can_create_sign_in_links: true,
    });
    const found = await agent.result('search_merchants', { query: 'netflix' });
    expect(found).toEqual({ merchants: [{ ...NETFLIX, can_sign_in: true }], next_cursor: null });
    const link = await agent.result<{ link_id: string }>('create_sign_in_link', { merchant_id: NETFLIX.id });
    expect(link).not.toHaveProperty('url');
    const [message] = textMessagesTo(service, phone_number);
    await send(/\/sign-in\/\w+/.exec(message?.body ?? '')?.[0] ?? '');
    const { link_id } = link;
    expect(await agent.result('get_sign_in_link', { link_id })).toMatchObject({ status: 'completed' });
    const accounts = () => agent.result('list_merchant_accounts');
    expect(await accounts()).toMatchObject({ accounts: [{ merchant: NETFLIX, state: 'connected' }] });
    const service_token = await issueServiceToken(service, ['events:publish']);
    const event = {
      client_id: service.production.clientId,
      event: 'ACCOUNT_LOGIN_REQUIRED',
      external_user_id: user,
      merchant_id: NETFLIX.id,
    };
    await service.request('/events', { body: event, token: service_token.token });
    expect(await accounts()).toMatchObject({ accounts: [{ merchant: NETFLIX, state: 'disconnected' }] });
    await agent.close();
  },
);

it('The log names the failure, and neither the user nor what the user entered', async () => {
  const link = await newLink();
  await gateway.fail('garbage');
  await send(link.path, credentials(WRONG_CODE, WRONG_PASSWORD));
  // The reporter searches all log lines for both.
  expect(await statusOf(link)).toBe('pending');
});

// The last test, because the second application replaces the strategies of the first one in Passport.
it.each([
  ['does not respond from the start', { MERCHANT_GATEWAY_URL: 'http://127.0.0.1:1' }],
  ['refuses the signature', { MERCHANT_GATEWAY_SECRET: `whsec_${randomBytes(32).toString('base64')}` }],
])('No merchant is available if the gateway %s', async (_, settings) => {
  await using apart = await startTestApp({ ...environment, ...settings });

  const agent = newAgent(apart, apart.production, apart.organizationId, 'production');
  await expect(apart.app.get(SignInLinkCreationService).create(agent, NETFLIX.id)).rejects.toMatchObject({
    code: 'MERCHANT_UNAVAILABLE',
  });
  expect(textMessagesTo(apart, agent.phoneNumber)).toEqual([]);
});
