import type { Response } from 'express';
import { generateSecret } from '../../../src/infrastructure/crypto/index.js';
import type { IdempotentRequest } from '../../../src/infrastructure/idempotency/index.js';
import { TextMessages } from '../../../src/infrastructure/messages/index.js';
import { HOUR } from '../../../src/infrastructure/time/index.js';
import { SignInLinkCreationService, SignInLinksService } from '../../../src/modules/sign-in-links/index.js';
import { MerchantSignIn } from '../../../src/modules/sign-in-links/merchant-sign-in.js';
import { logLines } from '../../support/logs/log-lines.js';
import { serveMetrics, type Scraper } from '../../support/logs/metrics.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { GOOD, NETFLIX, newAgent, newLink, textMessagesTo } from '../../support/merchants/sign-in-links.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { startTraceCollector, type TraceCollector } from '../../support/logs/trace-collector.js';
import { Twilio } from '../../support/messages/twilio.js';
import { BEHIND_PROXY, Visitor } from '../../support/pages/visitor.js';

const ACCOUNT = 'AC0123456789abcdef0123456789abcdef';
const AUTH_TOKEN = 'auth-token-of-the-test-0123456789';
const SENDER = '+12125550199';
const REFUSAL = 'The text message with the sign-in link could not be sent. Create another link later.';

describe('Text messages through Twilio', () => {
  const twilio = new Twilio();
  let service: TestApp;
  let collector: TraceCollector;
  let metrics: Scraper;
  const secrets: string[] = [AUTH_TOKEN, Buffer.from(`${ACCOUNT}:${AUTH_TOKEN}`).toString('base64')];

  beforeAll(async () => {
    rememberSecret(...secrets);
    collector = await startTraceCollector();
    service = await startTestApp({
      ...BEHIND_PROXY,
      TWILIO_ACCOUNT_SID: ACCOUNT,
      TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      TWILIO_FROM: SENDER,
      TWILIO_API_URL: `${await twilio.listen()}/`,
      WEBHOOK_TARGETS: 'any',
      TEXT_MESSAGES_IN_DEVELOPMENT: 'on',
      // A host of its own.
      SURFACES: 'connector',
      SIGN_IN_FORMS_PER_MINUTE: '2',
      UNKNOWN_SIGN_IN_LINKS_PER_MINUTE: '20',
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    metrics = await serveMetrics(service);
  });
  afterAll(async () => {
    twilio.close();
    await collector.close();
  });

  beforeEach(() => {
    twilio.requests.length = 0;
    twilio.status = 201;
    twilio.code = 20003;
  });

  it('sends exactly one request with the form and the credentials', async () => {
    const link = await newLink(service);
    secrets.push(link.path.slice('/sign-in/'.length), link.agent.phoneNumber);
    const [request, ...more] = twilio.requests;
    expect(more).toEqual([]);
    expect(request).toMatchObject({ method: 'POST', url: `/2010-04-01/Accounts/${ACCOUNT}/Messages.json` });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${ACCOUNT}:${AUTH_TOKEN}`).toString('base64')}`,
    });
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      To: link.agent.phoneNumber,
      From: SENDER,
      Body: expect.stringContaining(` asks you to sign in to Netflix: ${link.url} `),
      // As long as the link works: a message that waits for a phone that is off must not arrive later.
      ValidityPeriod: '900',
    });
  });

  it('fails the link and says so if the message is rejected, without a second request', async () => {
    twilio.status = 400;
    const agent = newAgent(service);
    secrets.push(agent.phoneNumber);
    await expect(service.app.get(SignInLinkCreationService).create(agent, NETFLIX.id)).rejects.toMatchObject({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
      message: REFUSAL,
    });
    expect(twilio.requests).toHaveLength(1);
    const [link] = await service.database.query(
      'SELECT id, status FROM sign_in_link WHERE external_user_id = $1',
      [agent.externalUserId],
    );
    expect(link).toMatchObject({ status: 'failed' });
    expect(await service.app.get(SignInLinksService).find(agent, String(link?.['id']))).toMatchObject({
      failure_reason: 'not_sent',
    });
    expect(logLines().find((line) => line['link_id'] === link?.['id'])).toMatchObject({
      level: 'error',
      message:
        'The text message with a sign-in link could not be sent: the provider responded with 400 (code 20003)',
    });
  });

  it('is sent again for an idempotency key until it was sent, and not after that', async () => {
    const { client, organizationId, externalUserId, phoneNumber } = newAgent(service);
    secrets.push(phoneNumber);
    const body = {
      external_user_id: externalUserId,
      merchant_id: NETFLIX.id,
      proof: 'phone' as const,
      phone_number: phoneNumber,
    };
    const idempotent = {
      identity: ['POST', '/sign-in-links', client.clientId, 'a key'],
      sender: client.clientId,
      body,
      attribution: {} as IdempotentRequest['attribution'],
      response: { setHeader: () => ({}) as Response },
    };
    const create = () =>
      service.app
        .get(SignInLinkCreationService)
        .createFor({ ...client, organizationId, enabledOperations: new Set<string>() }, body, { idempotent });
    twilio.status = 400;
    await expect(create()).rejects.toMatchObject({ status: 503 });
    twilio.status = 201;
    const link = await create();
    expect([link, twilio.messagesTo(phoneNumber).length]).toMatchObject([{ status: 'pending' }, 2]);
    // A stored response is JSON.
    expect([await create(), twilio.messagesTo(phoneNumber).length]).toEqual([
      JSON.parse(JSON.stringify(link)),
      2,
    ]);
  });

  it.each([
    [
      21610,
      'the user has stopped the messages of this sender by replying STOP, and can allow them again by replying START',
    ],
    [21211, 'the number does not exist'],
    [21614, 'the number cannot receive text messages, for example because it is a landline'],
    [21408, 'text messages to the region of the number are not enabled'],
  ])('says why the provider never accepts a message (code %i), and counts no link', async (code, why) => {
    const agent = newAgent(service);
    secrets.push(agent.phoneNumber);
    const links = service.app.get(SignInLinkCreationService);
    Object.assign(twilio, { status: 400, code });
    const error = await links.create(agent, NETFLIX.id).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      status: 403,
      code: 'NO_ACCESS',
      message: `No text message can be sent to the phone number of this connection: ${why}. Unless that changes, another link would fail too. The company can create an MCP token with another phone number.`,
      options: {},
    });
    expect(twilio.requests).toHaveLength(1);
    const statuses = await service.database.query(
      'SELECT status FROM sign_in_link WHERE external_user_id = $1',
      [agent.externalUserId],
    );
    expect(statuses).toEqual([{ status: 'failed' }]);
    expect(logLines().at(-1)).toMatchObject({
      level: 'warn',
      message: `The text message with a sign-in link could not be sent: the provider responded with 400 (code ${code})`,
    });
    twilio.status = 201;
    const elsewhere = { ...agent, phoneNumber: newAgent(service).phoneNumber };
    secrets.push(elsewhere.phoneNumber);
    for (let count = 0; count < 5; count += 1) await links.create(elsewhere, NETFLIX.id);
    await expect(
      links.create({ ...agent, phoneNumber: newAgent(service).phoneNumber }, NETFLIX.id),
    ).rejects.toMatchObject({ status: 429 });
  });

  it('counts messages by outcome', async () => {
    const OUTCOMES = ['accepted', 'failed', 'undeliverable'];
    const counts = () =>
      Promise.all(OUTCOMES.map((outcome) => metrics.value('mcs_text_messages_total', { outcome })));
    const before = await counts();
    const { client } = newAgent(service);
    const send = () =>
      service.app.get(TextMessages).send({ client, to: SENDER, body: 'Hello', lifetime: HOUR });
    await send();
    twilio.status = 500;
    await expect(send()).rejects.toThrow('the provider responded with 500');
    Object.assign(twilio, { status: 400, code: 21610 });
    await expect(send()).rejects.toThrow('the provider responded with 400');
    expect(await counts()).toEqual(before.map((value) => Number(value) + 1));
  });

  it('belong to a host that serves the pages of sign-in links and their stylesheet, and no other pages', async () => {
    const { path } = await newLink(service);
    secrets.push(path.slice('/sign-in/'.length));
    const statuses = await Promise.all(
      [path, '/pages.css', '/login', '/dashboard'].map(
        async (each) => (await fetch(service.baseUrl + each)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 404, 404]);
  });

  it('lead to pages that accept a limited number of forms per link', async () => {
    const { path } = await newLink(service);
    secrets.push(path.slice('/sign-in/'.length));
    const visitor = new Visitor(service);
    await visitor.get(path);
    const wrong = { ...GOOD, password: 'wrong' };
    for (const status of [400, 400, 429]) expect((await visitor.submit(path, wrong)).status).toBe(status);
    const refused = await visitor.submit(path, GOOD);
    expect(refused.text).toContain('There were too many attempts. Wait a minute, then try again.');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const elsewhere = new Visitor(service);
    await elsewhere.get(path);
    expect((await elsewhere.submit(path, GOOD)).status).toBe(429);
    const other = await newLink(service);
    secrets.push(other.path.slice('/sign-in/'.length));
    await visitor.get(other.path);
    expect((await visitor.submit(other.path, GOOD)).location).toBe(`${other.path}?done=completed`);
  });

  it('work for users behind the address of somebody who guesses links', async () => {
    const { path } = await newLink(service);
    secrets.push(path.slice('/sign-in/'.length));
    const visitor = new Visitor(service);
    await visitor.get(path);
    const guesses = await Promise.all(
      Array.from({ length: 62 }, () => visitor.copy().submit(`/sign-in/${generateSecret('')}`, GOOD)),
    );
    const statuses = guesses.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array<number>(20).fill(404), ...Array<number>(42).fill(429)]);
    expect((await visitor.submit(path, GOOD)).location).toBe(`${path}?done=completed`);
  });

  it('leave no phone number, link or credential in logs, metrics or traces', async () => {
    const text = await metrics.text();
    // Exports the remaining spans.
    await service.close();
    const recorded = [JSON.stringify(logLines()), collector.texts.join('\n'), text];
    for (const each of recorded) expect(each).toContain('/sign-in/:token');
    expect(secrets.length).toBeGreaterThan(6);
    for (const secret of secrets) for (const each of recorded) expect(each).not.toContain(secret);
  });
});

describe('Text messages of the two environments', () => {
  it('are files in development, even if production sends them, unless a setting says otherwise', async () => {
    const twilio = new Twilio();
    const provider = {
      TWILIO_ACCOUNT_SID: ACCOUNT,
      TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      TWILIO_FROM: SENDER,
      TWILIO_API_URL: await twilio.listen(),
      WEBHOOK_TARGETS: 'any',
    };
    const apart = await startTestApp(provider);
    Object.assign(apart.app.get(MerchantSignIn), {
      isConfigured: () => true,
      isAvailable: async () => true,
    });
    const links = apart.app.get(SignInLinkCreationService);
    try {
      for (const environment of ['development', 'production'] as const) {
        const agent = newAgent(apart, apart[environment], apart.organizationId, environment);
        await links.create(agent, NETFLIX.id);
        const files = textMessagesTo(apart, agent.phoneNumber);
        expect([files.length, twilio.requests.length]).toEqual(
          environment === 'production' ? [0, 1] : [1, 0],
        );
      }
    } finally {
      await apart.close();
      twilio.close();
    }
  });
});
