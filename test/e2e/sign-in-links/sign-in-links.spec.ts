import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DAY, MINUTE } from '../../../src/infrastructure/time/index.js';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { MerchantAccountsService } from '../../../src/modules/merchant-accounts/index.js';
import { MerchantStatusesService } from '../../../src/modules/merchant-statuses/index.js';
import { SignInLinkCreationService, SignInLinksService } from '../../../src/modules/sign-in-links/index.js';
import { MerchantSignIn } from '../../../src/modules/sign-in-links/merchant-sign-in.js';
import { sha256 } from '../../../src/infrastructure/crypto/index.js';
import { mcpToken } from '../../support/agents/agents.js';
import { moveClock } from '../../support/clock.js';
import { sendForm } from '../../support/logins/device-flow.js';
import { eventually } from '../../support/eventually.js';
import { logLines } from '../../support/logs/log-lines.js';
import {
  GOOD,
  NETFLIX,
  newAgent,
  newLink,
  textMessagesTo,
  type TestAgent,
  type TestLink,
} from '../../support/merchants/sign-in-links.js';
import { useTestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor, type PageResponse } from '../../support/pages/visitor.js';

const service = useTestApp({ ...BEHIND_PROXY, CONNECTOR_URL: 'https://agents.example.com/' });
let links: SignInLinksService;
let creation: SignInLinkCreationService;

beforeAll(async () => {
  links = service.app.get(SignInLinksService);
  creation = service.app.get(SignInLinkCreationService);
});

const titleOf = ({ text }: PageResponse): string => /<h1>([^<]*)<\/h1>/.exec(text)?.[1] ?? '';
const statusOf = async ({ agent, id }: TestLink): Promise<string> => (await links.find(agent, id)).status;
const failureOf = async ({ agent, id }: TestLink) => (await links.find(agent, id)).failure_reason;
const rowOf = async (id: string) =>
  (await service.database.query('SELECT * FROM sign_in_link WHERE id = $1', [id]))[0] ?? {};
const eventsOf = ({ externalUserId }: TestAgent) =>
  service.database.query(
    `SELECT client_id, event, session_id, body FROM webhook_event
      WHERE external_user_id = $1 AND event NOT LIKE 'SIGN_IN_LINK_%'`,
    [externalUserId],
  );
const sessionsOf = ({ externalUserId }: TestAgent) =>
  service.database.query('SELECT id, client_id, type FROM session WHERE external_user_id = $1', [
    externalUserId,
  ]);
const accountsOf = async ({ client, externalUserId }: TestAgent) =>
  (await service.app.get(MerchantAccountsService).page(client, externalUserId, { limit: 10 })).data;

const setStatus = (type: 'link' | 'card_switcher', status: 'UP' | 'DOWN') =>
  service.app.get(MerchantStatusesService).set(String(NETFLIX.id), { type, status });

/** Opens the page, sends its form, and follows the redirect. */
async function send(visitor: Visitor, path: string, fields: Record<string, string>): Promise<PageResponse> {
  await visitor.get(path);
  return resend(visitor, path, fields);
}

/** Sends the form of a page that the visitor opened earlier. */
async function resend(
  visitor: Visitor,
  path: string,
  fields: Record<string, string> = GOOD,
): Promise<PageResponse> {
  const response = await visitor.submit(path, fields);
  return response.location === null ? response : visitor.get(response.location);
}

describe('Creating a sign-in link', () => {
  it('sends the URL to the phone of the user, and returns it in development', async () => {
    const agent = newAgent(service);
    const link = await newLink(service, agent);
    expect(link).toMatchObject({ status: 'pending', merchant: NETFLIX });
    expect(link.url).toMatch(/^https:\/\/agents\.example\.com\/sign-in\/[0-9A-Za-z]{49}$/);
    expect(Math.round((link.expires_at.getTime() - Date.now()) / MINUTE)).toBe(15);
    const [message, ...more] = textMessagesTo(service, agent.phoneNumber);
    expect(more).toEqual([]);
    expect(message?.body).toBe(
      `Test organization asks you to sign in to Netflix: ${link.url} The link works once, for 15 minutes. If you did not expect this, ignore it.`,
    );
    expect(statSync(message?.file ?? '').mode & 0o777).toBe(0o600);
    // Lines are written at the end of the turn of the event loop.
    await nextTurn();
    expect(logLines().map(({ message: text }) => text)).toContain(
      `A text message was written to ${message?.file}`,
    );
    const row = JSON.stringify(await rowOf(link.id));
    expect(row).not.toContain(link.path.slice('/sign-in/'.length));
  });

  it('is refused in production, where no merchant is available', async () => {
    const agent = newAgent(service, service.production, service.organizationId, 'production');
    await expect(creation.create(agent, NETFLIX.id)).rejects.toMatchObject({
      status: 409,
      code: 'MERCHANT_UNAVAILABLE',
    });
    expect(textMessagesTo(service, agent.phoneNumber)).toEqual([]);
  });

  it('is refused while the status of the merchant for links is DOWN', async () => {
    const agent = newAgent(service);
    await setStatus('card_switcher', 'DOWN');
    await newLink(service, agent);
    await setStatus('link', 'DOWN');
    try {
      await expect(creation.create(agent, NETFLIX.id)).rejects.toMatchObject({
        status: 409,
        code: 'MERCHANT_UNAVAILABLE',
      });
    } finally {
      await setStatus('link', 'UP');
    }
    expect(textMessagesTo(service, agent.phoneNumber)).toHaveLength(1);
    await newLink(service, agent);
  });

  it('never returns the URL in production', async () => {
    const agent = newAgent(service, service.production, service.organizationId, 'production');
    const port = service.app.get(MerchantSignIn);
    Object.assign(port, { isConfigured: () => true, isAvailable: async () => true });
    try {
      const link = await creation.create(agent, NETFLIX.id);
      expect(JSON.stringify(link)).not.toContain('sign-in');
      expect(Object.keys(link)).toEqual([
        'id',
        'merchant',
        'status',
        'failure_reason',
        'cancelled_by',
        'proof',
        'source',
        'session_id',
        'created_at',
        'expires_at',
      ]);
      const [message] = textMessagesTo(service, agent.phoneNumber);
      expect(message?.body).toContain('https://agents.example.com/sign-in/');
    } finally {
      Reflect.deleteProperty(port, 'isConfigured');
      Reflect.deleteProperty(port, 'isAvailable');
    }
  });

  it('requires a merchant that exists and that the organization does not hide', async () => {
    const agent = newAgent(service);
    for (const id of [0, -1, 1.5, 999_999]) {
      await expect(creation.create(agent, id)).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
    const { id, development } = await service.anotherOrganization();
    await service.database.query(
      `INSERT INTO merchant_visibility (organization_id, environment, merchant_id, hidden_at)
       VALUES ($1, 'development', $2, now())`,
      [id, NETFLIX.id],
    );
    await expect(creation.create(newAgent(service, development, id), NETFLIX.id)).rejects.toMatchObject({
      status: 404,
    });
    await newLink(service, agent);
  });

  it('requires a phone number', async () => {
    const { phoneNumber: _, ...agent } = newAgent(service);
    await expect(creation.create(agent, NETFLIX.id)).rejects.toMatchObject({ code: 'NO_ACCESS' });
  });

  it('accepts exactly 5 of 25 concurrent requests per user and hour', async () => {
    const agent = newAgent(service);
    const created = await Promise.allSettled(Array.from({ length: 25 }, () => newLink(service, agent)));
    const rejected = created.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(rejected).toHaveLength(20);
    for (const error of rejected) {
      expect(error).toMatchObject({ status: 429, code: 'TOO_MANY_REQUESTS' });
      expect(error.body.retry_after).toBeGreaterThan(3_500);
    }
    expect(textMessagesTo(service, agent.phoneNumber)).toHaveLength(5);
    await newLink(service, { ...newAgent(service), client: agent.client });
  });

  it('counts the requests of a user together, whatever the phone number', async () => {
    const agent = newAgent(service);
    const create = () => newLink(service, { ...newAgent(service), externalUserId: agent.externalUserId });
    for (let count = 1; count <= 5; count += 1) await create();
    await expect(create()).rejects.toMatchObject({ status: 429, code: 'TOO_MANY_REQUESTS' });
  });
});

describe('A sign-in link', () => {
  it('is visible only to the user and the client that it was created for', async () => {
    const link = await newLink(service);
    const { development, id } = await service.anotherOrganization();
    const others = [
      { ...link.agent, externalUserId: 'another-user' },
      { ...newAgent(service, development, id), externalUserId: link.agent.externalUserId },
    ];
    for (const other of others) {
      const notFound = { status: 404, message: 'There is no sign-in link with this ID.' };
      await expect(links.find(other, link.id)).rejects.toMatchObject(notFound);
      await expect(links.cancel(other, link.id)).rejects.toMatchObject(notFound);
    }
    await expect(links.find(link.agent, 'no-id')).rejects.toMatchObject({ status: 404 });
    expect(await statusOf(link)).toBe('pending');
  });

  it('can be cancelled, also repeatedly, unless it is finished or has expired', async () => {
    const link = await newLink(service);
    for (let count = 0; count < 2; count += 1)
      expect(await links.cancel(link.agent, link.id)).toMatchObject({ status: 'cancelled' });
    expect(titleOf(await new Visitor(service).get(link.path))).toBe('This link was cancelled');

    const completed = await newLink(service);
    await send(new Visitor(service), completed.path, GOOD);
    expect(await links.cancel(completed.agent, completed.id)).toMatchObject({ status: 'completed' });

    const expired = await newLink(service);
    using _clock = moveClock(service, 16 * MINUTE);
    expect(await links.cancel(expired.agent, expired.id)).toMatchObject({ status: 'expired' });
  });

  it('is cancelled once another link of the user for the merchant has completed', async () => {
    const agent = newAgent(service);
    const [completed, ...others] = [
      await newLink(service, agent),
      await newLink(service, agent),
      await newLink(service, agent),
    ] as const;
    const elsewhere = await creation.create(agent, NETFLIX.id + 1);
    const stranger = await newLink(service, { ...newAgent(service), phoneNumber: agent.phoneNumber });
    await send(new Visitor(service), completed.path, GOOD);
    expect(await statusOf(completed)).toBe('completed');
    for (const other of others) {
      expect(await statusOf(other)).toBe('cancelled');
      expect(titleOf(await new Visitor(service).get(other.path))).toBe('This link was cancelled');
    }
    expect((await links.find(agent, elsewhere.id)).status).toBe('pending');
    expect(await statusOf(stranger)).toBe('pending');
  });

  it('completes only 1 of 5 links for a merchant when 25 forms are sent concurrently', async () => {
    const agent = newAgent(service);
    const all = await Promise.all(Array.from({ length: 5 }, () => newLink(service, agent)));
    const visitors = await Promise.all(
      Array.from({ length: 25 }, async (_, index) => {
        const visitor = new Visitor(service);
        const { path } = all[index % 5]!;
        await visitor.get(path);
        return () => visitor.submit(path, GOOD);
      }),
    );
    await Promise.all(visitors.map((submit) => submit()));
    const statuses = await Promise.all(all.map(statusOf));
    expect(statuses.toSorted()).toEqual([...Array<string>(4).fill('cancelled'), 'completed']);
    expect(await eventsOf(agent)).toHaveLength(1);
    expect(await sessionsOf(agent)).toHaveLength(1);
  });

  it('is cancelled with the revocation of the MCP token, even if 25 links are created concurrently', async () => {
    const { clientId } = service.development;
    const agents = await Promise.all(
      Array.from({ length: 25 }, async () => {
        const agent = newAgent(service);
        const token = await mcpToken(service, agent.externalUserId);
        return { token, agent: { ...agent, tokenHash: sha256(token) } };
      }),
    );
    const outcomes = await Promise.all(
      agents.map(async ({ token, agent }) => {
        const [created] = await Promise.allSettled([
          creation.create(agent, NETFLIX.id),
          sendForm(service, '/oauth/revoke', { token, client_id: clientId }),
        ]);
        return created.status === 'fulfilled'
          ? (await links.find(agent, created.value.id)).status
          : (created.reason as { code: string }).code;
      }),
    );
    expect(outcomes.filter((outcome) => !['cancelled', 'INVALID_ACCESS_TOKEN'].includes(outcome))).toEqual(
      [],
    );
    const pending = await service.database.query(
      `SELECT FROM sign_in_link WHERE status = 'pending' AND external_user_id = ANY ($1)`,
      [agents.map(({ agent }) => agent.externalUserId)],
    );
    expect(pending).toEqual([]);
  });

  it('is deleted a week after it expired, once its event was published', async () => {
    const [kept, deleted] = [await newLink(service), await newLink(service)];
    await service.database.query('UPDATE sign_in_link SET expires_at = $2 WHERE id = $1', [
      deleted.id,
      new Date(Date.now() - 7 * DAY - MINUTE),
    ]);
    await service.app.get(ExpiryJob).run();
    // Its event was not published yet.
    expect(await statusOf(deleted)).toBe('expired');
    await links.publishExpired();
    await service.app.get(ExpiryJob).run();
    expect(await statusOf(kept)).toBe('pending');
    await expect(links.find(deleted.agent, deleted.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('The page of a sign-in link', () => {
  it('connects the account and publishes AUTHENTICATED with a session of the type link', async () => {
    const link = await newLink(service);
    const { agent } = link;
    const visitor = new Visitor(service);
    const page = await visitor.get(link.path);
    expect(page.status).toBe(200);
    expect(titleOf(page)).toBe('Sign in to Netflix');
    expect(page.text).toContain('<strong>Test organization</strong>');
    const sent = await visitor.submit(link.path, { ...GOOD, user_name: ' user_good ' });
    expect([sent.status, sent.location]).toEqual([303, `${link.path}?done=completed`]);
    expect(titleOf(await visitor.get(sent.location ?? ''))).toBe('You are signed in');

    expect(await statusOf(link)).toBe('completed');
    const [session] = await sessionsOf(agent);
    expect(session).toMatchObject({ client_id: agent.client.clientId, type: 'link' });
    const [event, ...more] = await eventsOf(agent);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      client_id: agent.client.clientId,
      event: 'AUTHENTICATED',
      session_id: session?.id,
    });
    expect(JSON.parse(String(event?.body))).toMatchObject({
      external_user_id: agent.externalUserId,
      merchant: NETFLIX,
      data: { card_id: null },
    });
    expect(await accountsOf(agent)).toMatchObject([
      { merchant: NETFLIX, state: 'connected', session_id: session?.id },
    ]);
    const again = await new Visitor(service).get(link.path);
    expect([again.status, titleOf(again)]).toEqual([410, 'This link was already used']);
    expect(titleOf(await resend(visitor, link.path))).toBe('This link was already used');
    expect(await eventsOf(agent)).toHaveLength(1);
  });

  it('is not changed by link previews, which fetch it with GET and HEAD', async () => {
    const link = await newLink(service);
    const before = await rowOf(link.id);
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD', 'GET', 'HEAD']) {
      const response = await fetch(`${service.baseUrl}${link.path}?done=completed&again`, {
        method,
        headers: { 'user-agent': 'WhatsApp/2.23' },
      });
      expect(response.status).toBe(200);
    }
    expect(await rowOf(link.id)).toEqual(before);
    expect(titleOf(await send(new Visitor(service), link.path, GOOD))).toBe('You are signed in');
  });

  it('completes exactly once for 30 concurrent forms', async () => {
    const link = await newLink(service);
    const visitors = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const visitor = new Visitor(service);
        await visitor.get(link.path);
        return visitor;
      }),
    );
    const sent = await Promise.all(visitors.map((visitor) => visitor.submit(link.path, GOOD)));
    expect(sent.map(({ status }) => status)).toEqual(Array(30).fill(303));
    expect(await statusOf(link)).toBe('completed');
    expect(await eventsOf(link.agent)).toHaveLength(1);
    expect(await sessionsOf(link.agent)).toHaveLength(1);
    expect(await rowOf(link.id)).toMatchObject({ attempts: expect.any(Number) });
    expect(Number((await rowOf(link.id))['attempts'])).toBeLessThanOrEqual(5);
  });

  it('asks the merchant at most 5 times, even if 30 wrong forms arrive at once', async () => {
    const link = await newLink(service);
    const port = service.app.get(MerchantSignIn);
    let asked = 0;
    let release: (title: Promise<string>) => void = () => undefined;
    const allAsked = new Promise<string>((resolve) => (release = resolve));
    const look = async (): Promise<string> => {
      // Those of the other forms end at once.
      await eventually('no transaction is open while a merchant is asked', async () => {
        const open = await service.database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
        );
        return open.length === 0;
      });
      return titleOf(await new Visitor(service).get(link.path));
    };
    Object.assign(port, {
      signIn: async () => {
        asked += 1;
        if (asked === 5) release(look());
        await allAsked;
        return { outcome: 'incorrect' };
      },
    });
    const visitor = new Visitor(service);
    try {
      await visitor.get(link.path);
      await Promise.all(Array.from({ length: 30 }, () => visitor.copy().submit(link.path, GOOD)));
      expect(asked).toBe(5);
      expect(await allAsked).toBe('No attempts left');
    } finally {
      Reflect.deleteProperty(port, 'signIn');
    }
    expect(await statusOf(link)).toBe('failed');
    expect(titleOf(await resend(visitor, link.path))).toBe('Too many attempts');
    expect(await eventsOf(link.agent)).toEqual([]);
  });

  it('fails after five wrong passwords', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    const wrong = { ...GOOD, password: 'wrong' };
    for (const left of ['4 attempts', '3 attempts', '2 attempts', 'one attempt']) {
      const page = await send(visitor, link.path, wrong);
      expect(page.status).toBe(400);
      expect(page.text).toContain(
        `Netflix did not accept the user name or the password. Check both and try again. You have ${left} left.`,
      );
      expect(page.text).toContain('value="user_good"');
      expect(page.text).not.toContain('wrong"');
    }
    expect(await statusOf(link)).toBe('pending');
    const last = await send(visitor, link.path, wrong);
    expect([last.status, titleOf(last)]).toEqual([410, 'Too many attempts']);
    expect(await statusOf(link)).toBe('failed');
    expect(await failureOf(link)).toBe('too_many_attempts');
    expect(titleOf(await send(visitor, link.path, GOOD))).toBe('Too many attempts');
    expect(await accountsOf(link.agent)).toEqual([]);
  });

  it('does not ask the merchant if a field is empty', async () => {
    const link = await newLink(service);
    const page = await send(new Visitor(service), link.path, { action: 'sign_in', user_name: ' ' });
    expect(page.status).toBe(400);
    expect(page.text).toContain('Enter your user name.');
    expect(page.text).toContain('Enter your password.');
    expect(await rowOf(link.id)).toMatchObject({ attempts: 0 });
  });

  it('asks for a one-time code if the merchant wants one', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    // Without credentials, there is no code to check.
    expect(titleOf(await send(visitor, link.path, { action: 'code', code: '123456' }))).toBe(
      'Sign in to Netflix',
    );
    const codePage = await send(visitor, link.path, { ...GOOD, user_name: 'user_otp' });
    expect([codePage.status, titleOf(codePage)]).toEqual([200, 'Enter the code from Netflix']);
    const challenge = (await rowOf(link.id))['challenge_sealed'];
    expect(String(challenge)).not.toContain('sandbox');
    expect(await statusOf(link)).toBe('pending');
    const empty = await visitor.submit(link.path, { action: 'code' });
    expect([empty.status, empty.text.includes('Enter the code.')]).toEqual([400, true]);
    const wrong = await visitor.submit(link.path, { action: 'code', code: '654321' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain(
      'Netflix did not accept this code. Check it and try again. You have 3 attempts left.',
    );
    expect(titleOf(await visitor.get(`${link.path}?again`))).toBe('Sign in to Netflix');
    expect(titleOf(await visitor.get(link.path))).toBe('Enter the code from Netflix');
    // As a keyboard for Arabic writes it.
    const sent = await visitor.submit(link.path, { action: 'code', code: ' ١٢٣ 456' });
    expect(sent.location).toBe(`${link.path}?done=completed`);
    expect(await statusOf(link)).toBe('completed');
    expect(await eventsOf(link.agent)).toHaveLength(1);
    expect(await rowOf(link.id)).toMatchObject({ attempts: 3, challenge_sealed: null });
  });

  it('fails if the merchant locked the user', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    const page = await send(visitor, link.path, { ...GOOD, user_name: 'user_locked' });
    expect([page.status, titleOf(page)]).toEqual([410, 'The sign-in failed']);
    expect(await statusOf(link)).toBe('failed');
    expect(await failureOf(link)).toBe('denied');
    expect(titleOf(await resend(visitor, link.path))).toBe('The sign-in failed');
    expect(await eventsOf(link.agent)).toEqual([]);
  });

  it('lets the user decline', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    const page = await send(visitor, link.path, { action: 'decline' });
    expect([page.status, titleOf(page)]).toEqual([200, 'You declined']);
    expect(await statusOf(link)).toBe('cancelled');
    expect(titleOf(await resend(visitor, link.path))).toBe('This link was cancelled');
    expect(await eventsOf(link.agent)).toEqual([]);
  });

  it('refuses a link that has expired, also if it expires during the sign-in', async () => {
    const [late, during] = [await newLink(service), await newLink(service)];
    const visitor = new Visitor(service);
    await visitor.get(late.path);
    {
      using _clock = moveClock(service, 16 * MINUTE);
      const page = await visitor.get(late.path);
      expect([page.status, titleOf(page)]).toEqual([410, 'This link has expired']);
      expect((await visitor.submit(late.path, GOOD)).location).toBe(late.path);
      expect(await statusOf(late)).toBe('expired');
    }

    const port = service.app.get(MerchantSignIn);
    let clock: Disposable | undefined;
    using _clock = { [Symbol.dispose]: () => clock?.[Symbol.dispose]() };
    Object.assign(port, {
      signIn: async () => {
        clock = moveClock(service, 16 * MINUTE);
        return { outcome: 'succeeded' };
      },
    });
    expect(titleOf(await send(visitor, during.path, GOOD))).toBe('This link has expired');
    Reflect.deleteProperty(port, 'signIn');
    for (const { agent } of [late, during])
      expect([await eventsOf(agent), await sessionsOf(agent)]).toEqual([[], []]);
  });

  it('does not complete a link that is cancelled during the sign-in', async () => {
    const link = await newLink(service);
    const port = service.app.get(MerchantSignIn);
    Object.assign(port, {
      signIn: async () => {
        await links.cancel(link.agent, link.id);
        return { outcome: 'succeeded' };
      },
    });
    expect(titleOf(await send(new Visitor(service), link.path, GOOD))).toBe('This link was cancelled');
    Reflect.deleteProperty(port, 'signIn');
    expect(await statusOf(link)).toBe('cancelled');
    expect([await eventsOf(link.agent), await sessionsOf(link.agent)]).toEqual([[], []]);
  });

  it('does not sign in while the status of the merchant for links is DOWN', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    await setStatus('link', 'DOWN');
    const page = await resend(visitor, link.path).finally(() => setStatus('link', 'UP'));
    expect([page.status, titleOf(page)]).toEqual([409, 'Netflix is not available']);
    expect(await rowOf(link.id)).toMatchObject({ status: 'pending', attempts: 0 });
    expect(titleOf(await resend(visitor, link.path))).toBe('You are signed in');
  });

  it('says when the merchant is unavailable', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    await visitor.get(link.path);
    await service.database.query(`UPDATE sign_in_link SET environment = 'production' WHERE id = $1`, [
      link.id,
    ]);
    const page = await resend(visitor, link.path);
    expect([page.status, titleOf(page)]).toEqual([409, 'Netflix is not available']);
    expect(await statusOf(link)).toBe('pending');
  });

  it('says that an unknown link does not work', async () => {
    for (const path of ['/sign-in/unknown', `/sign-in/${'0'.repeat(49)}`, '/sign-in/%3Cscript%3E']) {
      const visitor = new Visitor(service);
      const page = await visitor.get(path);
      expect([page.status, titleOf(page)]).toEqual([404, 'This link doesn’t work']);
      expect(page.text).not.toContain('script');
      // A page of the browser is needed for the token of the form.
      await visitor.get((await newLink(service)).path);
      expect((await visitor.submit(path, GOOD)).status).toBe(404);
    }
  });

  it('is neither cached nor indexed, and names no other site the address', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    const forged = await new Visitor(service).submit(link.path, { ...GOOD, form_token: 'x' });
    expect(forged.status).toBe(403);
    expect(forged.text).toMatch(/name="password"[^>]*autocomplete="current-password"/);
    for (const { headers } of [await visitor.get(link.path), await visitor.get('/sign-in/unknown'), forged]) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'/);
      expect(headers.get('content-security-policy')).not.toContain('script-src');
    }
    expect(await statusOf(link)).toBe('pending');
  });

  it('ignores dashboard logins', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    const { cookie, email } = await service.login();
    visitor.cookies.set('session', cookie.slice('session='.length));
    const page = await visitor.get(link.path);
    expect(page.text).not.toContain(email);
    expect(page.text).not.toContain('<nav');
    expect((await visitor.submit(link.path, GOOD)).location).toBe(`${link.path}?done=completed`);
  });

  it('leaves neither the token nor the phone number nor the password in the log', async () => {
    const link = await newLink(service);
    const visitor = new Visitor(service);
    const password = 'Pa55word-of-the-user';
    await send(visitor, link.path, { ...GOOD, password });
    await send(visitor, link.path, GOOD);
    await fetch(`${service.baseUrl}${link.path}`, { method: 'PUT' });
    await fetch(`${service.baseUrl}${link.path}/more`);
    const text = JSON.stringify(logLines());
    expect(text).toContain('/sign-in/:token');
    for (const secret of [link.path.slice('/sign-in/'.length), link.agent.phoneNumber, password])
      expect(text).not.toContain(secret);
    const logged = await service.database.query('SELECT path FROM request_log WHERE path LIKE $1', [
      '/sign-in%',
    ]);
    expect(logged).toEqual([]);
  });
});
