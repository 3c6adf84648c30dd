import { MINUTE } from '../../src/infrastructure/time/index.js';
import { TextMessages } from '../../src/infrastructure/messages/index.js';
import { EndedLinksJob } from '../../src/modules/sign-in-links/ended-links.job.js';
import { SignInLinksService } from '../../src/modules/sign-in-links/index.js';
import { moveClock } from '../support/clock.js';
import { GOOD, NETFLIX, newAgent, newLink, type TestAgent } from '../support/sign-in-links.js';
import { useTestApp } from '../support/test-app.js';
import { expectUsualErrors } from '../support/usual-errors.js';
import { BEHIND_PROXY, Visitor } from '../support/visitor.js';

const service = useTestApp({ ...BEHIND_PROXY, TEXT_MESSAGES_PER_DAY: '100000' });

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
      await expect(service.app.get(SignInLinksService).create(agent, NETFLIX.id)).rejects.toMatchObject({
        status: 503,
      });
    } finally {
      Reflect.deleteProperty(messages, 'send');
    }
    expect(await eventsOf(agent)).toEqual([failed(agent, expect.any(String) as string, 'not_sent')]);
  });
});

describe('The event SIGN_IN_LINK_EXPIRED', () => {
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
    const common = { merchant: NETFLIX, created_at: expect.any(String), expires_at: expect.any(String) };
    expect((await list(user)).body).toEqual({
      data: [
        { ...common, id: refused.id, status: 'failed', failure_reason: 'denied', session_id: null },
        { ...common, id: completed.id, status: 'pending', failure_reason: null, session_id: null },
        { ...common, id: pending.id, status: 'pending', failure_reason: null, session_id: null },
      ],
      next_cursor: null,
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

  it('returns the usual errors', () =>
    expectUsualErrors(service, '/sign-in-links?external_user_id=a', 'sign_in_link'));
});
