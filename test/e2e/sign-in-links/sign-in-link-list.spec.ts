import type { SignInLinkStatus } from '../../../src/modules/sign-in-links/sign-in-link.entity.js';
import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { TextMessages } from '../../../src/infrastructure/messages/index.js';
import { EndedLinksJob } from '../../../src/modules/sign-in-links/ended-links.job.js';
import { SignInLinkCreationService, SignInLinksService } from '../../../src/modules/sign-in-links/index.js';
import { moveClock, stopClock } from '../../support/clock.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';
import { GOOD, NETFLIX, newAgent, newLink, type TestAgent } from '../../support/merchants/sign-in-links.js';
import { useTestApp } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { BEHIND_PROXY, Visitor, visitorWithRole, linkTo, rowsOf } from '../../support/pages/visitor.js';
import { auditEntries } from '../../support/logs/audited.js';
import { UNKNOWN_ID } from '../../support/documents/operations.js';

const PATH = '/dashboard/development/sign-in-links';
const pathOf = (user: string, path = PATH): string =>
  `${path}?${new URLSearchParams({ external_user_id: user })}`;

const service = useTestApp({ ...BEHIND_PROXY, TEXT_MESSAGES_PER_DAY: '100000' });
let viewer: Visitor;
let member: Visitor;

beforeAll(async () => {
  viewer = await visitorWithRole(service, 'viewer');
  member = await visitorWithRole(service, 'member');
});

const submit = (path: string, fields: Record<string, string>): Promise<unknown> =>
  new Visitor(service).fill(path, fields);
const WRONG = { ...GOOD, password: 'wrong' };
const LOCKED = { ...GOOD, user_name: 'user_locked' };

async function eventsOf({ externalUserId }: TestAgent): Promise<unknown[]> {
  const rows = await service.database.query<{ body: Buffer }>(
    'SELECT body FROM webhook_event WHERE external_user_id = $1 ORDER BY position',
    [externalUserId],
  );
  return rows.map(({ body }) => JSON.parse(String(body)) as unknown);
}
const failed = ({ externalUserId }: TestAgent, sign_in_link_id: string, reason: string) => ({
  event: 'SIGN_IN_LINK_FAILED',
  external_user_id: externalUserId,
  merchant: NETFLIX,
  data: { sign_in_link_id, reason },
  timestamp: expect.any(Number) as number,
});

describe('The event SIGN_IN_LINK_FAILED', () => {
  it('is published if the merchant does not let the user sign in', async () => {
    const { agent, id, path } = await newLink(service);
    await submit(path, LOCKED);
    expect(await eventsOf(agent)).toEqual([failed(agent, id, 'denied')]);
  });

  it('is published once after 20 concurrent wrong forms', async () => {
    const { agent, id, path } = await newLink(service);
    await Promise.all(Array.from({ length: 20 }, () => submit(path, WRONG)));
    expect(await eventsOf(agent)).toEqual([failed(agent, id, 'too_many_attempts')]);
  });

  it('is published once after 20 concurrent forms of a locked user', async () => {
    const { agent, path } = await newLink(service);
    await Promise.all(Array.from({ length: 20 }, () => submit(path, LOCKED)));
    expect(await eventsOf(agent)).toHaveLength(1);
  });

  it('is published if the text message cannot be sent', async () => {
    const agent = newAgent(service);
    const messages = service.app.get(TextMessages);
    Object.assign(messages, { send: () => Promise.reject(new Error('unreachable')) });
    try {
      await expect(
        service.app.get(SignInLinkCreationService).create(agent, NETFLIX.id),
      ).rejects.toMatchObject({
        status: 503,
      });
    } finally {
      Reflect.deleteProperty(messages, 'send');
    }
    expect(await eventsOf(agent)).toEqual([failed(agent, expect.any(String) as string, 'not_sent')]);
  });
});

describe('The event SIGN_IN_LINK_EXPIRED', () => {
  it('is published although that of a link which expired before cannot be', async () => {
    const agents = [newAgent(service), newAgent(service)] as const;
    for (const agent of agents) await newLink(service, agent);
    using _clock = moveClock(service, 16 * MINUTE);
    const failing = `NEW.external_user_id = '${agents[0].externalUserId}'`;
    const job = service.app.get(EndedLinksJob);
    await whileInsertsFail(service, 'webhook_event', () => job.run(), failing);
    expect([await eventsOf(agents[0]), await eventsOf(agents[1])]).toMatchObject([
      [],
      [{ merchant: NETFLIX }],
    ]);
    await job.run();
    expect(await eventsOf(agents[0])).toHaveLength(1);
  });

  it('is published once for each link that expires while it is pending', async () => {
    const ended = await Promise.all([newLink(service), newLink(service), newLink(service)]);
    const [completed, cancelled, failing] = ended as [
      (typeof ended)[0],
      (typeof ended)[0],
      (typeof ended)[0],
    ];
    await submit(completed.path, GOOD);
    await submit(cancelled.path, { action: 'decline' });
    await submit(failing.path, LOCKED);
    const agent = newAgent(service);
    const expired = await Promise.all([newLink(service, agent), newLink(service, agent)]);
    await service.app.get(EndedLinksJob).run();
    expect(await eventsOf(agent)).toEqual([]);
    using _clock = moveClock(service, 16 * MINUTE);
    const links = service.app.get(SignInLinksService);
    await Promise.all(Array.from({ length: 20 }, () => links.publishExpired(1)));
    await service.app.get(EndedLinksJob).run();
    const events = await eventsOf(agent);
    expect(events).toHaveLength(2);
    expect(events).toEqual(
      expect.arrayContaining(
        expired.map(({ id }) => ({
          event: 'SIGN_IN_LINK_EXPIRED',
          external_user_id: agent.externalUserId,
          merchant: NETFLIX,
          data: { sign_in_link_id: id },
          timestamp: expect.any(Number) as number,
        })),
      ),
    );
    const names = (await Promise.all(ended.map((link) => eventsOf(link.agent)))).flat();
    expect(names).toMatchObject([{ event: 'AUTHENTICATED' }, { event: 'SIGN_IN_LINK_FAILED' }]);
  });
});

describe('GET /sign-in-links', () => {
  const list = (query: string, as = service.development) =>
    service.request<{ data: { id: string }[]; next_cursor: string | null }>(`/sign-in-links?${query}`, {
      as,
    });

  it('returns the links of the user with their status, the newest first', async () => {
    const agent = newAgent(service);
    const pending = await newLink(service, agent);
    const completed = await newLink(service, agent);
    const refused = await newLink(service, agent);
    await submit(refused.path, LOCKED);
    const user = `external_user_id=${agent.externalUserId}`;
    const common = {
      merchant: NETFLIX,
      cancelled_by: null,
      proof: 'phone',
      source: 'agent',
      created_at: expect.any(String),
      expires_at: expect.any(String),
    };
    expect((await list(user)).body).toEqual({
      data: [
        { ...common, id: refused.id, status: 'failed', failure_reason: 'denied', session_id: null },
        { ...common, id: completed.id, status: 'pending', failure_reason: null, session_id: null },
        { ...common, id: pending.id, status: 'pending', failure_reason: null, session_id: null },
      ],
      next_cursor: null,
      limit: 25,
    });
    await submit(completed.path, GOOD);
    const first = await list(`${user}&limit=2`);
    expect(first.body.data).toMatchObject([
      { id: refused.id },
      { id: completed.id, status: 'completed', session_id: expect.any(String) },
    ]);
    const next = await list(`${user}&limit=2&cursor=${first.body.next_cursor}`);
    // The sign-in with one link cancels the others for the merchant.
    expect(next.body).toMatchObject({ data: [{ id: pending.id, status: 'cancelled' }], next_cursor: null });
    expect((await list(user, service.production)).body.data).toEqual([]);
    expect((await list(`${user}&cursor=x`)).body).toMatchObject({ error_code: 'INVALID_CURSOR_FORMAT' });
    expect((await list('limit=2')).body).toMatchObject({
      error_message: 'The external user id field is required.',
    });
  });

  it('is in the request log with the user', async () => {
    const { externalUserId } = newAgent(service);
    await list(`external_user_id=${externalUserId}`);
    const entries = await service.database.query('SELECT path FROM request_log WHERE external_user_id = $1', [
      externalUserId,
    ]);
    expect(entries).toEqual([{ path: '/sign-in-links' }]);
  });

  it('returns the usual errors', async () => {
    await expectUsualErrors(service, '/sign-in-links?external_user_id=a', 'sign_in_link');
    const path = `/sign-in-links/${UNKNOWN_ID}/cancel`;
    await expectUsualErrors(service, path, 'sign_in_link', { method: 'POST' });
    expect(await list('external_user_id=a&environment=production')).toMatchObject({
      status: 403,
      body: { error_code: 'ENVIRONMENT_MISMATCH' },
    });
  });
});

const statusesOf = (html: string): (string | undefined)[] => rowsOf(html).map(([, status]) => status);
const storedStatus = async (id: string): Promise<SignInLinkStatus | undefined> => {
  const [row] = await service.database.query<{ status: SignInLinkStatus }>(
    'SELECT status FROM sign_in_link WHERE id = $1',
    [id],
  );
  return row?.status;
};

describe('The page about sign-in links', () => {
  it('asks for a user first, and is in the navigation', async () => {
    const { status, text } = await viewer.get(PATH);
    expect(status).toBe(200);
    expect(text).toContain('Look up a customer');
    expect(text).not.toContain('has no sign-in links');
    expect(linkTo('Sign-in links', text)).toBe(PATH);
  });

  it('shows the status of each link, but not its address', async () => {
    const agent = newAgent(service);
    const expired = await newLink(service, agent);
    await service.database.query(
      `UPDATE sign_in_link SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'`,
    );
    const failed = await newLink(service, agent);
    await submit(failed.path, { ...GOOD, user_name: 'user_locked' });
    const completed = await newLink(service, agent);
    await submit(completed.path, GOOD);
    const pending = await newLink(service, agent);
    const { text } = await viewer.get(pathOf(agent.externalUserId));
    expect(statusesOf(text)).toEqual([
      'Pending',
      'Completed',
      'Failed The merchant denied the sign-in',
      'Expired',
    ]);
    expect(rowsOf(text).map(([merchant]) => merchant)).toEqual(Array(4).fill(NETFLIX.name));
    for (const { path } of [expired, failed, completed, pending])
      expect(text).not.toContain(path.slice('/sign-in/'.length));
    expect(text).not.toContain(agent.phoneNumber.slice(1));
    // The session of the completed link leads to its requests.
    const session = /href="([^"]+session_id=[^"]+)"/.exec(text)?.[1] ?? '';
    expect(session).toMatch(/&amp;start=.+&amp;end=/);
    expect((await viewer.get(session.replaceAll('&amp;', '&'))).status).toBe(200);
  });

  it('does not show the links in the other environment or to another organization', async () => {
    const { agent } = await newLink(service);
    const other = await service.anotherOrganization();
    const stranger = await visitorWithRole(service, 'owner', other.id);
    for (const [visitor, path] of [
      [viewer, '/dashboard/production/sign-in-links'],
      [stranger, PATH],
    ] as const) {
      const { text } = await visitor.get(pathOf(agent.externalUserId, path));
      expect(text).toContain('This customer has no sign-in links');
      expect(rowsOf(text)).toEqual([]);
    }
  });

  it('has a next and a previous page', async () => {
    const agent = newAgent(service);
    for (let count = 0; count < 3; count++) await newLink(service, agent);
    // The rows say how long ago the links were created.
    using _clock = stopClock(service, new Date());
    const first = await viewer.get(`${pathOf(agent.externalUserId)}&limit=2`);
    expect(rowsOf(first.text)).toHaveLength(2);
    const next = await viewer.get(linkTo('Next page', first.text));
    expect(rowsOf(next.text)).toHaveLength(1);
    expect(next.text).toContain('This is the last page.');
    const previous = await viewer.get(linkTo('Previous page', next.text));
    expect(rowsOf(previous.text)).toEqual(rowsOf(first.text));
  });

  it('shows an error message for an invalid user', async () => {
    const { status, text } = await viewer.get(pathOf('x'.repeat(257)));
    expect(status).toBe(400);
    expect(text).toContain('The “Customer” field must not be greater than 256 characters.');
  });
});

describe('Cancelling a sign-in link', () => {
  const cancel = async (visitor: Visitor, agent: TestAgent) => {
    const list = await visitor.get(pathOf(agent.externalUserId));
    const confirmation = linkTo('Cancel', list.text);
    const { text } = await visitor.get(confirmation);
    expect(text).toContain('Cancel the sign-in link?');
    const user = /name="external_user_id" value="([^"]*)"/.exec(text)?.[1] ?? '';
    return visitor.submit(confirmation.split('?')[0] ?? '', { external_user_id: user });
  };

  it('asks first, is audited, and returns to the list of the user', async () => {
    const { agent, id, path } = await newLink(service);
    const { status, location } = await cancel(member, agent);
    expect([status, location]).toEqual([303, `${pathOf(agent.externalUserId)}&done=cancelled`]);
    const { text } = await member.get(location ?? '');
    expect(text).toContain('The sign-in link was cancelled.');
    expect(statusesOf(text)).toEqual(['Cancelled In the dashboard']);
    expect((await auditEntries(service))[0]).toMatchObject({
      event: { action: 'sign_in_link.cancel', outcome: { status: 'success' } },
      target: { type: 'sign_in_link', name: NETFLIX.name, environment: 'development' },
    });
    await submit(path, GOOD);
    expect(await storedStatus(id)).toBe('cancelled');
  });

  it('changes and records nothing if the link has ended', async () => {
    const { agent, id } = await newLink(service);
    const before = (await auditEntries(service)).length;
    using _clock = moveClock(service, 16 * MINUTE);
    const { location } = await member.submit(`${PATH}/${id}/cancel`, {
      external_user_id: agent.externalUserId,
    });
    expect(location).toBe(`${pathOf(agent.externalUserId)}&done=ended`);
    expect(await storedStatus(id)).toBe('pending');
    expect(await auditEntries(service)).toHaveLength(before);
  });

  it('records one entry for 20 concurrent requests', async () => {
    const { id } = await newLink(service);
    const entries = async (): Promise<number> =>
      (await auditEntries(service)).filter(({ event }) => event.action === 'sign_in_link.cancel').length;
    const before = await entries();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        service.request(`/sign-in-links/${id}/cancel`, { method: 'POST', as: service.development }),
      ),
    );
    for (const { status, body } of responses) expect([status, body['status']]).toEqual([200, 'cancelled']);
    expect(await entries()).toBe(before + 1);
  });

  it('is not offered to viewers, and not possible for them or another organization', async () => {
    const { agent, id } = await newLink(service);
    const list = await viewer.get(pathOf(agent.externalUserId));
    expect(linkTo('Cancel', list.text)).toBe('');
    expect((await viewer.submit(`${PATH}/${id}/cancel`)).status).toBe(403);
    const other = await service.anotherOrganization();
    const stranger = await visitorWithRole(service, 'owner', other.id);
    await stranger.get(PATH);
    expect((await stranger.submit(`${PATH}/${id}/cancel`)).status).toBe(404);
    await member.get(pathOf(agent.externalUserId));
    const otherEnvironment = PATH.replace('development', 'production');
    expect((await member.submit(`${otherEnvironment}/${id}/cancel`)).status).toBe(404);
    const credentials = { method: 'POST', as: service.production };
    expect((await service.request(`/sign-in-links/${id}/cancel`, credentials)).status).toBe(404);
    expect(await storedStatus(id)).toBe('pending');
  });
});
