import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { TransactionHost } from '@nestjs-cls/transactional';
import { DataSource } from 'typeorm';
import { Transaction } from '../../../src/infrastructure/database/index.js';
import { Clock, MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { DetectedAccountsRepository } from '../../../src/modules/detected-accounts/detected-accounts.repository.js';
import { UserErasuresJob } from '../../../src/modules/external-users/user-erasures.job.js';
import {
  UserErasuresRepository,
  type ClaimedErasure,
} from '../../../src/modules/external-users/user-erasures.repository.js';
import { RequestLogRepository, RequestLogWriter } from '../../../src/modules/request-logs/index.js';
import type { LoggedAttempt } from '../../../src/modules/request-logs/request-log-entry.js';
import { EntrySpool } from '../../../src/modules/request-logs/writing/entry-spool.js';
import { WebhookEventsRepository } from '../../../src/modules/webhooks/events/webhook-events.repository.js';
import { AttemptSlots } from '../../../src/modules/webhooks/queue/attempt-slots.js';
import { DeliveryQueueRepository } from '../../../src/modules/webhooks/queue/delivery-queue.repository.js';
import { DeliveryQueueService } from '../../../src/modules/webhooks/queue/delivery-queue.service.js';
import { mcpToken } from '../../support/agents/agents.js';
import { moveClock } from '../../support/clock.js';
import {
  erasuresOf,
  finishErasures,
  jobOfAnotherProcess,
  MANY,
  newUser,
  pathOf,
  type Erasure,
} from '../../support/merchants/erasures.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from '../../support/merchants/merchant-gateway.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../../support/logs/request-log-entries.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { SignInLinkCreationService } from '../../../src/modules/sign-in-links/index.js';
import { NETFLIX, newAgent } from '../../support/merchants/sign-in-links.js';
import { whileLogIsLocked } from '../../support/database/locked-log.js';
import { watchStatements } from '../../support/database/statements.js';
import {
  error,
  invalidField,
  newKeys,
  startTestApp,
  useTestApp,
  type TestApp,
  type TestResponse,
} from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { BEHIND_PROXY, visitorWithRole } from '../../support/pages/visitor.js';
import { addEndpoint } from '../../support/webhooks/webhook-receiver.js';

let gateway: TestGateway;
beforeAll(async () => void (gateway = await TestGateway.start()));
/** Closed at the end: decorators of transactions use the process that started last. */
const others: TestApp[] = [];
afterAll(async () => {
  for (const other of others.toReversed()) await other.close();
});
const KEYS = newKeys();
const service = useTestApp(() => ({
  ...KEYS,
  ...BEHIND_PROXY,
  ...gateway.environment,
  TEXT_MESSAGES_PER_DAY: '100000',
  WEBHOOK_TARGETS: 'any',
}));
afterAll(() => gateway.close());
let serviceToken: string;
beforeAll(async () => void ({ token: serviceToken } = await issueServiceToken(service)));

const { erase, progressOf, tablesOf, countOf, addEntriesOf } = erasuresOf(service);

async function succeed(path: string, body: object, as?: IssuedCredentials): Promise<Record<string, unknown>> {
  const response = await service.request(path, { body, ...(as ? { as } : { token: serviceToken }) });
  if (response.status !== 200)
    throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}

/** Stores something about the user in every place. @returns the MCP token */
async function meet(user: string, as = service.development): Promise<string> {
  const environment = as === service.production ? 'production' : 'development';
  const client = { clientId: as.clientId, environment } as const;
  const token = await mcpToken(service, user, { as });
  const metadata = { customer: `${user} (VIP)` };
  const { session } = await succeed(
    '/session/create',
    { type: 'card_switcher', external_user_id: user, card_id: `card-of-${user}`, metadata },
    as,
  );
  await succeed('/detections', {
    client_id: as.clientId,
    external_user_id: user,
    merchants: ['Netflix', 19],
  });
  const event = {
    client_id: as.clientId,
    external_user_id: user,
    merchant_id: 16,
    task_id: 1,
    session_id: session,
  };
  for (const data of [
    { event: 'AUTHENTICATED', data: { card_id: null } },
    { event: 'CARD_UPDATED', data: { card_id: `card-of-${user}` } },
  ])
    await succeed('/events', { ...event, ...data, idempotency_key: `${data.event} of ${user}` });
  const agent = newAgent(service, as, service.organizationId, environment);
  await service.app.get(SignInLinkCreationService).create({ ...agent, externalUserId: user }, NETFLIX.id);
  const at = { createdAt: new Date(), externalUserId: user };
  const attempt = loggedAttempt(client, at).attempt;
  await fillRequestLog(service, [
    loggedRequest(client, at),
    loggedAttempt(client, {
      ...at,
      ...(attempt && { attempt: { ...attempt, responseBody: `There is no user ${user} here` } }),
    }),
  ]);
  await service.app.get(EntrySpool).save([loggedRequest(client, at)]);
  return token;
}

/** The tables that hold identifiers of users. */
const TABLES = [
  'detected_account',
  'mcp_token',
  'merchant_account',
  'request_log',
  'session',
  'sign_in_link',
  'webhook_event',
  'webhook_event_key',
];
const FILE = expect.stringMatching(/request-log\/.*\.ndjson$/) as string;

async function pseudonymOf(erasure: Erasure): Promise<string> {
  const [row] = await service.database.query<{ pseudonym: string }>(
    'SELECT pseudonym FROM user_erasure WHERE requested_at = $1',
    [erasure.requested_at],
  );
  return row?.pseudonym ?? '';
}

describe('DELETE /external-users/{external_user_id}', () => {
  it('leaves nothing that names the user in the database and the files', async () => {
    const user = newUser();
    await addEndpoint(service, service.development.clientId, `https://${randomUUID()}.example.com/`);
    await meet(user);
    const employee = await visitorWithRole(service);
    const list = '/dashboard/development/events';
    const saved = { page: `${list}?external_user_id=${user}`, filter_name: `Events of ${user}` };
    expect((await employee.fill(list, saved, '/dashboard/saved-filters')).status).toBe(303);
    expect(await tablesOf(user)).toEqual([FILE, ...[...TABLES, 'saved_filter'].toSorted()]);
    const logged = await countOf('request_log', user);
    const events = await countOf('webhook_event', user);

    const { status, body } = await erase(user);
    expect([status, body.status, body.finished_at]).toEqual([202, 'running', null]);
    await finishErasures(service);

    expect(await tablesOf(user)).toEqual([]);
    const finished = await progressOf(user);
    expect(finished.body).toMatchObject({ status: 'finished', requested_at: body.requested_at });
    expect(finished.body.erased).toBeGreaterThan(logged + events);
    // Counts stay right.
    const pseudonym = await pseudonymOf(body);
    expect(await countOf('request_log', pseudonym)).toBe(logged);
    expect(await countOf('webhook_event', pseudonym)).toBe(events);
    expect(await service.database.query('SELECT external_user_id_sealed FROM user_erasure')).toContainEqual({
      external_user_id_sealed: null,
    });
  });

  it('is recorded in the audit log and the request log without the user', async () => {
    const user = newUser();
    await erase(user);
    const entries = await service.database.query<Record<string, unknown>>(
      `SELECT actor_name, target_name, target_environment, outcome FROM audit_log
        WHERE action = 'external_user.erase' ORDER BY sequence DESC LIMIT 1`,
    );
    expect(entries).toEqual([
      { actor_name: 'API client', target_name: null, target_environment: 'development', outcome: 'success' },
    ]);
    await progressOf(user, { ...service.development, secret: 'wrong' });
    const paths = await service.database.query<{ path: string }>(
      `SELECT DISTINCT path FROM request_log WHERE path LIKE '/external-users%' ORDER BY path`,
    );
    expect(paths.map(({ path }) => path)).toEqual([
      '/external-users/{external_user_id}',
      '/external-users/{external_user_id}/erasure',
    ]);
    expect(await tablesOf(user)).toEqual([]);
  });

  it('revokes MCP tokens and sign-in links before it responds', async () => {
    const user = newUser();
    const token = await meet(user);
    const ping = () => service.request('/mcp', { token, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    expect((await ping()).status).not.toBe(401);
    await erase(user);
    expect((await ping()).status).toBe(401);
    expect(await tablesOf(user)).not.toContain('sign_in_link');
    await finishErasures(service);
  });

  it('leaves users with the same identifier of other clients alone', async () => {
    const user = newUser();
    const other = await service.anotherOrganization();
    for (const as of [service.development, service.production, other.development]) await meet(user, as);
    const rows = async (): Promise<unknown> => {
      const counts = TABLES.filter((table) => table !== 'webhook_event_key').map(
        (table) =>
          `SELECT '${table}' AS name, client_id, count(*)::integer FROM ${table}
            WHERE external_user_id = $1 AND client_id <> $2 GROUP BY 2`,
      );
      return service.database.query(`${counts.join(' UNION ALL ')} ORDER BY 1, 2`, [
        user,
        service.development.clientId,
      ]);
    };
    const before = await rows();
    await erase(user);
    await finishErasures(service);
    expect(await rows()).toEqual(before);
    expect(await progressOf(user, other.development)).toMatchObject({ status: 404 });
    const [{ count } = { count: -1 }] = await service.database.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM request_log WHERE external_user_id = $1 AND client_id = $2`,
      [user, service.development.clientId],
    );
    expect(count).toBe(0);
  });

  it('deletes waiting deliveries, keeps those of other users, and frees the slots of attempts in progress', async () => {
    const [user, other] = [newUser(), newUser()];
    const id = randomUUID();
    const { production } = await service.anotherOrganization();
    await addEndpoint(service, production.clientId, `https://${id}.example.com/`, id);
    for (const each of [user, other]) {
      const event = { client_id: production.clientId, external_user_id: each, merchant_id: 16 };
      for (let count = 0; count < 3; count += 1)
        await succeed('/events', { ...event, event: 'ACCOUNT_LOGIN_REQUIRED' });
    }
    const queue = service.app.get(DeliveryQueueRepository);
    const state = async () =>
      (
        await service.database.query<{ waiting: number; claimed: number; in_flight: number }>(
          `SELECT count(*)::integer AS waiting, count(claim_id)::integer AS claimed,
                  (SELECT in_flight FROM webhook_lane WHERE endpoint_id = $1)
             FROM webhook_delivery WHERE endpoint_id = $1`,
          [id],
        )
      )[0];
    const [{ id: event, created_at } = { id: '', created_at: new Date() }] = await service.database.query<{
      id: string;
      created_at: Date;
    }>('SELECT id, created_at FROM webhook_event WHERE external_user_id = $1', [user]);
    const url = `https://${id}.example.com/`;
    await queue.addClaimed({ id: event, createdAt: created_at }, {
      id,
      clientId: production.clientId,
      url,
    } as Parameters<typeof queue.addClaimed>[1]);
    expect(await state()).toEqual({ waiting: 7, claimed: 1, in_flight: 1 });
    await erase(user, production);
    let finishing: Promise<unknown> | undefined;
    await service.app.get(DataSource).transaction(async (other) => {
      await other.query('SELECT FROM webhook_lane WHERE endpoint_id = $1 FOR UPDATE', [id]);
      finishing = finishErasures(service);
      const changed = await eventually('the erasure waits for the lane', async () => {
        const relations = await service.database.query<{ name: string }>(
          `SELECT held.relation::regclass::text AS name FROM pg_locks waiting JOIN pg_locks held USING (pid)
            WHERE waiting.locktype = 'transactionid' AND NOT waiting.granted AND held.mode = 'RowExclusiveLock'`,
        );
        return relations.length > 0 ? relations.map(({ name }) => name) : undefined;
      });
      expect(changed).toContain('webhook_delivery');
      // Streams of events would wait for this transaction.
      expect(changed).not.toContain('webhook_event');
    });
    await finishing;
    expect(await state()).toEqual({ waiting: 3, claimed: 0, in_flight: 0 });
    // A recovery of the endpoint does not bring them back.
    expect(await queue.sendAgain(id, [event])).toEqual({ queued: 0, sending: 0 });
  });

  it('searches the queue of the client once for all events of the user', async () => {
    const user = newUser();
    const { production } = await service.anotherOrganization();
    const endpoint = randomUUID();
    await addEndpoint(service, production.clientId, `https://${endpoint}.example.com/`, endpoint);
    const addEvents = (count: number, waiting: number) =>
      service.database.query(
        `WITH event AS (
           INSERT INTO webhook_event (id, created_at, client_id, environment, event, external_user_id, body)
           SELECT gen_random_uuid(), now(), $1, 'production', 'CARD_UPDATED', $2, '{}' FROM generate_series(1, $3)
           RETURNING id, created_at)
         INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
         SELECT $5, id, created_at, 'https://x.example', 3, now() FROM event LIMIT $4`,
        [production.clientId, user, count, waiting, endpoint],
      );
    await addEvents(2_600, 2_100);
    await erase(user, production);
    const statements = watchStatements(service);
    await finishErasures(service);
    const searches = statements.filter((text) =>
      /FROM webhook_delivery delivery\s+JOIN webhook_event/.test(text),
    );
    const deletions = statements.filter((text) => text.includes('DELETE FROM webhook_delivery'));
    // The first finds them. The others find that none are left: in the same run, and in the last one.
    expect(searches.length).toBeLessThanOrEqual(4);
    expect(deletions).toHaveLength(1);
    expect(await countOf('webhook_event', user)).toBe(0);
    expect(
      await service.database.query('SELECT FROM webhook_delivery WHERE endpoint_id = $1', [endpoint]),
    ).toEqual([]);
  });

  it('sends no event of the user that waits although its contents are erased', async () => {
    const [user, other] = [newUser(), newUser()];
    const { production } = await service.anotherOrganization();
    const id = randomUUID();
    await addEndpoint(service, production.clientId, `https://${id}.example.com/`, id);
    for (const each of [user, other]) {
      const event = { client_id: production.clientId, external_user_id: each, merchant_id: 16 };
      await succeed('/events', { ...event, event: 'ACCOUNT_LOGIN_REQUIRED' });
    }
    const user_ = {
      clientId: production.clientId,
      environment: 'production' as const,
      organizationId: service.organizationId,
      externalUserId: user,
      pseudonym: 'erased_test',
    };
    expect(await service.app.get(WebhookEventsRepository).eraseBatch(user_)).toBe(1);
    const queue = service.app.get(DeliveryQueueService);
    let woken = 0;
    queue.serve({ id: 1, claimIds: [], seesOthers: false, onLaneDue: () => (woken += 1) } as never);
    const { deliveries } = await queue.claim(1, new AttemptSlots(10), [id]);
    queue.serve(undefined);
    expect(deliveries.map(({ event }) => event.externalUserId)).toEqual([other]);
    expect(woken).toBe(1);
    expect(
      await service.database.query(
        `SELECT in_flight, (SELECT count(*)::integer FROM webhook_delivery WHERE endpoint_id = $1) AS waiting
           FROM webhook_lane WHERE endpoint_id = $1`,
        [id],
      ),
    ).toEqual([{ in_flight: 1, waiting: 1 }]);
  });

  it('ends the sign-ins at the merchant gateway', async () => {
    const user = newUser();
    const as = service.production;
    await meet(user, as);
    const [running, session] = [randomUUID(), randomUUID()];
    await service.database.query(
      'UPDATE sign_in_link SET sign_in_id = $2, sign_in_asked_at = now() WHERE external_user_id = $1',
      [user, running],
    );
    await service.database.query('UPDATE merchant_account SET session_id = $2 WHERE external_user_id = $1', [
      user,
      session,
    ]);
    await erase(user, as);
    await finishErasures(service);
    const rows = await service.database.query<{ sign_in_id: string; is_running: boolean }>(
      `SELECT sign_in_id, asked_at IS NOT NULL AS is_running FROM merchant_sign_out WHERE sign_in_id = ANY ($1)`,
      [[running, session]],
    );
    // The gateway may not have answered the first one yet, so it is asked to undo it only later.
    expect(new Map(rows.map((row) => [row.sign_in_id, row.is_running]))).toEqual(
      new Map([
        [running, true],
        [session, false],
      ]),
    );
  });

  it('ends a sign-in once with which the user linked several merchants', async () => {
    const user = newUser();
    const as = service.production;
    await meet(user, as);
    const [account] = await service.database.query<{ session_id: string }>(
      'SELECT session_id FROM merchant_account WHERE external_user_id = $1',
      [user],
    );
    await succeed('/events', {
      client_id: as.clientId,
      external_user_id: user,
      merchant_id: 19,
      task_id: 2,
      session_id: account?.session_id,
      event: 'AUTHENTICATED',
      data: { card_id: null },
    });
    expect((await erase(user, as)).status).toBe(202);
    await finishErasures(service);
    expect((await progressOf(user, as)).body.status).toBe('finished');
    expect(
      await service.database.query(
        'SELECT count(*)::integer AS count FROM merchant_sign_out WHERE sign_in_id = $1',
        [account?.session_id],
      ),
    ).toEqual([{ count: 1 }]);
  });

  it('starts one erasure for 20 concurrent requests', async () => {
    const user = newUser();
    await meet(user);
    const responses = await Promise.all(Array.from({ length: 20 }, () => erase(user)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202));
    const job = service.app.get(UserErasuresJob);
    const first = job.run();
    // Another process works on the same erasure.
    await service.database.query("UPDATE user_erasure SET due_at = '-infinity' WHERE finished_at IS NULL");
    await Promise.all([first, (await jobOfAnotherProcess(service)).run()]);
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
    const finished = await progressOf(user);
    expect(finished.body.status).toBe('finished');
  });

  it('is continued although the clock was ahead when a process worked on it', async () => {
    const user = newUser();
    await meet(user);
    expect((await erase(user)).status).toBe(202);
    await service.database.query(
      `UPDATE user_erasure SET due_at = now() + interval '2 days' WHERE finished_at IS NULL`,
    );
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
  });

  it('is finished although the clock was ahead when it was requested, and is searched once in a minute until then', async () => {
    const user = newUser();
    await meet(user);
    await erase(user);
    await service.database.query(
      `UPDATE user_erasure SET requested_at = now() + interval '3 hours', due_at = now() + interval '3 hours'
        WHERE finished_at IS NULL`,
    );
    const job = service.app.get(UserErasuresJob);
    const running = job.run();
    const isOver = await Promise.race([running.then(() => true), pause(5_000, false)]);
    await service.database.query('UPDATE user_erasure SET requested_at = now() WHERE NOT $1', [isOver]);
    await running;
    expect(isOver).toBe(true);
    using _later = moveClock(service, 3 * MINUTE);
    await job.run();
    expect((await progressOf(user)).body.status).toBe('finished');
    expect(await tablesOf(user)).toEqual([]);
  });

  it('erases data that arrive while it is running, and no others', async () => {
    const [user, other] = [newUser(), newUser()];
    await meet(user);
    await meet(other);
    const logged = await countOf('request_log', other);
    const statuses: number[] = [];
    const requests = async (name: string): Promise<void> => {
      for (let count = 0; count < 15; count += 1) {
        const body = { external_user_id: name };
        const created = await service.request('/mcp/tokens/create', { body, as: service.development });
        const found = await service.request('/detected-accounts/search', {
          body: { ...body, names: ['Netflix'] },
          as: service.development,
        });
        statuses.push(created.status, found.status);
      }
    };
    const arriving = [requests(user), requests(user), requests(other), requests(other)];
    await erase(user);
    const job = service.app.get(UserErasuresJob);
    await job.run();
    await Promise.all(arriving);
    await finishErasures(service);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await tablesOf(user)).toEqual([]);
    expect(await countOf('mcp_token', other)).toBe(31);
    expect(await countOf('request_log', other)).toBe(logged + 60);
  });

  it('lets a client meet the user again afterwards, without a history', async () => {
    const user = newUser();
    await meet(user);
    await erase(user);
    await finishErasures(service);
    {
      using _later = moveClock(service, 2 * MINUTE);
      const body = { external_user_id: user, names: ['Netflix'] };
      const response = await service.request<{ detected: boolean }[]>('/detected-accounts/search', {
        body,
        as: service.development,
      });
      expect(response.body[0]?.detected).toBe(false);
      await mcpToken(service, user);
    }
    expect(await tablesOf(user)).toEqual(['mcp_token', 'request_log']);
    // The same user gets the same pseudonym.
    const first = (await progressOf(user)).body;
    const pseudonym = await pseudonymOf(first);
    using _later = moveClock(service, 3 * MINUTE);
    const { body: second } = await erase(user);
    expect(second.erased).toBe(1);
    expect(await pseudonymOf(second)).toBe(pseudonym);
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
  });

  it('replaces the user in entries that were waiting to be written until after the erasure', async () => {
    const [user, other] = [newUser(), newUser()];
    const client = { clientId: service.development.clientId, environment: 'development' } as const;
    await erase(user);
    await finishErasures(service);
    const pseudonym = await pseudonymOf((await progressOf(user)).body);
    const before = new Date(Date.now() - MINUTE);
    const writer = service.app.get(RequestLogWriter);
    {
      // Milliseconds do not matter: what counts is that the entries are written later than 30 s after they were created.
      using _later = moveClock(service, 5 * MINUTE);
      const failed = (externalUserId: string) => {
        const errorMessage = `No user ${externalUserId}.`;
        const caller = { ip: '203.0.113.7', userAgent: 'agent/1' };
        const change = { createdAt: before, externalUserId, errorMessage, ...caller };
        const attempt = loggedAttempt(client, change);
        const responseBody = `unknown: ${externalUserId}`;
        return [
          loggedRequest(client, change),
          { ...attempt, attempt: { ...(attempt.attempt as LoggedAttempt), responseBody } },
        ];
      };
      for (const entry of [...failed(user), ...failed(other)]) await writer.write(entry);
      const files = service.app.get(EntrySpool);
      await files.save(failed(user));
      files.onApplicationBootstrap();
      await eventually('the file is written', async () => (await files.ids()).length === 0);
    }
    expect(await countOf('request_log', user)).toBe(0);
    expect(await countOf('request_log', pseudonym)).toBe(4);
    expect(await countOf('request_log', other)).toBe(2);
    const texts = (name: string) =>
      service.database.query(
        `SELECT DISTINCT error_message, response_body, ip_address, user_agent FROM request_log
          WHERE external_user_id = $1 ORDER BY response_body`,
        [name],
      );
    expect(await texts(pseudonym)).toEqual([
      { error_message: null, response_body: null, ip_address: null, user_agent: null },
    ]);
    const error_message = `No user ${other}.`;
    expect(await texts(other)).toEqual([
      { error_message, response_body: `unknown: ${other}`, ip_address: '203.0.113.7', user_agent: 'agent/1' },
      { error_message, response_body: null, ip_address: '203.0.113.7', user_agent: 'agent/1' },
    ]);
  });

  it('refuses identifiers that no user can have', async () => {
    expect((await erase(' ')).body).toEqual(invalidField('The external user id field is required.'));
    expect((await erase('x'.repeat(257))).body).toEqual(
      invalidField('The external user id field must not be greater than 256 characters.'),
    );
    expect((await erase('a/b ü')).status).toBe(202);
  });

  it('has the usual errors', async () => {
    await expectUsualErrors(service, pathOf('user-1'), 'user_erasure', { method: 'DELETE' });
  });
});

describe('POST /external-users/erase', () => {
  const PATH = '/external-users/erase';
  const eraseNamed = (user: string): Promise<TestResponse<Erasure>> =>
    service.request<Erasure>(PATH, { body: { external_user_id: user }, as: service.development });
  const find = (user: string): Promise<TestResponse<Erasure>> =>
    service.request<Erasure>(`/external-users/erasure?${new URLSearchParams({ external_user_id: user })}`, {
      as: service.development,
    });

  it.each(['..', '.', '%2e%2e', 'a/../b', 'é?#&+ %'])(
    'erases a user whose identifier a path would change, %s, with the guarantees of DELETE',
    async (identifier) => {
      const placesWith = async (): Promise<string[]> => {
        const counts = TABLES.filter((table) => table !== 'webhook_event_key').map(
          async (table) => [table, await countOf(table, identifier)] as const,
        );
        return (await Promise.all(counts)).flatMap(([table, count]) => (count > 0 ? [table] : []));
      };
      expect((await find(identifier)).status).toBe(404);
      const token = await mcpToken(service, identifier);
      await succeed('/session/create', { type: 'link', external_user_id: identifier }, service.development);
      expect(await placesWith()).toEqual(['mcp_token', 'request_log', 'session']);
      const { status, body } = await eraseNamed(identifier);
      expect([status, body.status]).toEqual([202, 'running']);
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect((await service.request('/mcp', { token, body: ping })).status).toBe(401);
      const repeated = await eraseNamed(identifier);
      expect(repeated.body.requested_at >= body.requested_at).toBe(true);
      await finishErasures(service);
      expect(await placesWith()).toEqual([]);
      expect((await find(identifier)).body).toMatchObject({
        status: 'finished',
        requested_at: repeated.body.requested_at,
      });
    },
  );

  it('starts no further erasure when it is repeated with its idempotency key, which names the user nowhere', async () => {
    const [user, key] = [newUser(), randomUUID()];
    const eraseOnce = (name = user): Promise<TestResponse<Erasure>> =>
      service.request<Erasure>(PATH, {
        body: { external_user_id: name },
        as: service.development,
        headers: { 'Idempotency-Key': key },
      });
    await mcpToken(service, user);
    const { status, body } = await eraseOnce();
    expect([status, body.status]).toEqual([202, 'running']);
    await finishErasures(service);
    await mcpToken(service, user);
    const repeated = await eraseOnce();
    expect([repeated.status, repeated.body]).toEqual([202, body]);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect((await find(user)).body.status).toBe('finished');
    expect(await countOf('mcp_token', user)).toBe(1);
    expect((await eraseOnce(newUser())).body).toMatchObject({ error_code: 'IDEMPOTENCY_KEY_REUSED' });
    // Another erasure leaves the response, which is not about the user.
    await eraseNamed(user);
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
    expect((await eraseOnce()).headers.get('idempotency-replayed')).toBe('true');
    expect(await tablesOf(user)).toEqual([]);
  });

  it('claims its idempotency key with the erasure, also for other processes', async () => {
    const replica = await startTestApp({ ...KEYS, DATABASE_URL: service.database.url });
    others.push(replica);
    const [user, other, key] = [newUser(), newUser(), randomUUID()];
    const eraseOnce = (name: string, by = service): Promise<TestResponse<Erasure>> =>
      by.request<Erasure>(PATH, {
        body: { external_user_id: name },
        as: service.development,
        headers: { 'Idempotency-Key': key },
      });
    const requests = async (): Promise<number> => {
      const [row] = await service.database.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM audit_log WHERE action = 'external_user.erase'`,
      );
      return row?.count ?? 0;
    };
    await mcpToken(service, user);
    const before = await requests();
    const sent: Promise<TestResponse<Erasure>>[] = [];
    await whileLogIsLocked(
      service.database,
      async () => {
        sent.push(eraseOnce(user));
        await eventually('the erasure is stored', async () => (await find(user)).status === 200);
        const refused = await eraseOnce(other, replica);
        expect(refused.body).toMatchObject({ error_code: 'IDEMPOTENCY_KEY_REUSED' });
        expect((await find(other)).status).toBe(404);
        sent.push(eraseOnce(user, replica));
      },
      'mcp_token IN EXCLUSIVE MODE',
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses).toContain(202);
    for (const status of statuses) expect([202, 409]).toContain(status);
    const repeated = await eraseOnce(user, replica);
    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
    expect(await requests()).toBe(before + 1);
    expect(await countOf('mcp_token', user)).toBe(0);
  });

  it('is recorded in the audit log and the request log without the user', async () => {
    const user = newUser();
    await eraseNamed(user);
    await find(user);
    const [entry] = await service.database.query(
      `SELECT actor_name, target_name FROM audit_log WHERE action = 'external_user.erase' ORDER BY sequence DESC LIMIT 1`,
    );
    expect(entry).toEqual({ actor_name: 'API client', target_name: null });
    expect(await tablesOf(user)).toEqual([]);
  });

  it('has the usual errors', async () => {
    await expectUsualErrors(service, PATH, 'user_erasure', { body: { external_user_id: 'user-1' } });
    const path = '/external-users/erasure?external_user_id=user-1';
    await expectUsualErrors(service, path, 'user_erasure');
  });
});

describe('GET /external-users/{external_user_id}/erasure', () => {
  it('responds with 404 for a user whose erasure was not requested', async () => {
    expect((await progressOf(newUser())).body).toEqual(
      error('INVALID_REQUEST', 'NOT_FOUND', 'There is no erasure of a user with this ID.'),
    );
  });

  it('refuses an identifier that is too long, or missing', async () => {
    expect((await progressOf('x'.repeat(257))).body).toEqual(
      invalidField('The external user id field must not be greater than 256 characters.'),
    );
    const missing = await service.request('/external-users/erasure', { as: service.development });
    expect(missing.body).toEqual(invalidField('The external user id field is required.'));
  });

  it('has the usual errors', async () => {
    await expectUsualErrors(service, `${pathOf('user-1')}/erasure`, 'user_erasure');
  });
});

describe('An erasure', () => {
  const inTransaction = <Result>(work: () => Promise<Result>): Promise<Result> =>
    service.app.get(TransactionHost).withTransaction(work);
  const erasedUser = () => ({
    clientId: service.development.clientId,
    environment: 'development' as const,
    organizationId: service.organizationId,
    externalUserId: newUser(),
    pseudonym: `erased_${randomUUID()}`,
  });

  it('is continued by another process when its process stops', async () => {
    const user = newUser();
    await addEntriesOf(user);
    await erase(user);
    const stopping = await jobOfAnotherProcess(service);
    const running = stopping.run();
    await eventually('the job works', async () => (await countOf('request_log', user)) < MANY);
    await stopping.beforeApplicationShutdown();
    await running;
    expect(await countOf('request_log', user)).toBeGreaterThan(0);
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
  });

  it('is kept from other processes while a batch takes longer than its lease', async () => {
    const user = newUser();
    await meet(user);
    await erase(user);
    const job = service.app.get(UserErasuresJob);
    const accounts = service.app.get(DetectedAccountsRepository);
    const eraseBatch = accounts.eraseBatch.bind(accounts);
    const lease = 300;
    const left: number[] = [];
    Object.assign(job, { lease });
    Object.assign(accounts, {
      eraseBatch: async (each: Parameters<typeof eraseBatch>[0]) => {
        if (each.externalUserId === user) {
          await pause(3 * lease);
          const [erasure] = await service.database.query<{ left: number }>(
            `SELECT extract(epoch FROM due_at - clock_timestamp())::float8 AS left FROM user_erasure WHERE pseudonym = $1`,
            [each.pseudonym],
          );
          left.push(erasure?.left ?? 0);
        }
        return eraseBatch(each);
      },
    });
    await job.run();
    Reflect.deleteProperty(accounts, 'eraseBatch');
    Object.assign(job, { lease: 30 * SECOND });
    expect(left.length).toBeGreaterThan(0);
    expect(Math.min(...left)).toBeGreaterThan(0);
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
  });

  it('is repeated after an error, which keeps nothing of the batch', async () => {
    const user = newUser();
    await meet(user);
    await erase(user);
    const accounts = service.app.get(DetectedAccountsRepository);
    const eraseBatch = accounts.eraseBatch.bind(accounts);
    Object.assign(accounts, {
      eraseBatch: async (each: Parameters<typeof eraseBatch>[0]) => {
        await eraseBatch(each);
        throw new Error('A fault');
      },
    });
    await service.app.get(UserErasuresJob).run();
    expect(await countOf('detected_account', user)).toBe(2);
    Reflect.deleteProperty(accounts, 'eraseBatch');
    using _later = moveClock(service, 31 * SECOND);
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
  });

  it('locks no rows of other users, and few at a time', async () => {
    const user = newUser();
    await addEntriesOf(user);
    const log = service.app.get(RequestLogRepository);
    const batch = { ...erasedUser(), externalUserId: user };
    expect(await inTransaction(() => log.eraseBatch(batch))).toBe(1_000);
    await erase(user);
    const erasing = finishErasures(service);
    // With all rows locked at once, a request would wait until the end.
    expect(await requestsDuring(erasing)).toBeGreaterThan(1);
    expect(await tablesOf(user)).toEqual([]);
  });

  it('searches for entries without the time limit of other statements', async () => {
    const log = service.app.get(RequestLogRepository);
    const user = erasedUser();
    let searching: Promise<unknown> | undefined;
    await whileLogIsLocked(service.database, async () => {
      searching = inTransaction(async () => {
        const { manager } = service.app.get(Transaction);
        await manager.query("SET LOCAL statement_timeout = '200ms'");
        return [await log.eraseBatch(user), await manager.query('SHOW statement_timeout')];
      }).catch((cause: unknown) => cause);
      await pause(600);
    });
    expect(await searching).toEqual([0, [{ statement_timeout: '200ms' }]]);
  });

  /** Returns how many entries this connection has read; PostgreSQL resets the number between transactions. */
  async function rowsRead(): Promise<number> {
    const [counted] = await service.app.get(Transaction).manager.query<[{ rows: number }]>(
      `SELECT sum(seq_tup_read + idx_tup_fetch)::integer AS rows FROM pg_stat_xact_user_tables
        WHERE starts_with(relname, 'request_log')`,
    );
    return counted.rows;
  }

  it.each([
    ['each of them', '1 second', 1],
    ['one a day', '10 minutes', 24 * 6],
  ])(
    'reads entries with the pseudonym a few times, however many batches it takes: %s has an address',
    async (_which, interval, addresses) => {
      const ENTRIES = 8_000;
      const log = service.app.get(RequestLogRepository);
      // PostgreSQL may read all entries of a client that has few others.
      const { development } = await service.anotherOrganization();
      const user = { ...erasedUser(), clientId: development.clientId };
      await service.database.query(
        `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms,
                                  external_user_id, ip_address)
         SELECT $1, 'development', date_trunc('day', now(), 'UTC') - n * $3::interval, 'request', 'POST', '/mcp', 200, 1,
                $2::text, CASE WHEN n % $4::integer = 0 THEN '203.0.113.7' END
           FROM generate_series(1, $5::integer) n`,
        [user.clientId, user.pseudonym, interval, addresses, ENTRIES],
      );
      await service.database.query('ANALYZE request_log');
      const read = await inTransaction(async () => {
        const before = await rowsRead();
        let erased = 0;
        for (let batch = 1; batch > 0; erased += batch) batch = await log.eraseBatch(user);
        expect(erased).toBe(Math.floor(ENTRIES / addresses));
        return (await rowsRead()) - before;
      });
      expect(read).toBeLessThan(4 * ENTRIES);
    },
  );

  it('removes addresses and user agents of entries that an erasure by version 0.3.0 has left, of this user alone', async () => {
    const [user, other] = [newUser(), newUser()];
    const { body } = await erase(user);
    await finishErasures(service);
    const pseudonym = await pseudonymOf(body);
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms,
                                external_user_id, ip_address, user_agent)
       SELECT $1, 'development', now() - days * interval '1 day', 'request', 'POST', '/mcp', 200, 1, users, address, agent
         FROM generate_series(0, 1) days, unnest($2::text[]) users,
              unnest('{203.0.113.7,203.0.113.7,null}'::text[], '{agent,null,agent}'::text[]) caller (address, agent)`,
      [service.development.clientId, [pseudonym, other]],
    );
    const rowsOf = async (externalUserId: string, condition: string): Promise<number> =>
      (
        await service.database.query(
          `SELECT FROM request_log WHERE external_user_id = $1 AND (${condition})`,
          [externalUserId],
        )
      ).length;
    const HAS_CALLER = 'ip_address IS NOT NULL OR user_agent IS NOT NULL';
    expect(await rowsOf(pseudonym, HAS_CALLER)).toBe(6);
    await erase(user);
    await finishErasures(service);
    expect([await rowsOf(pseudonym, HAS_CALLER), await rowsOf(pseudonym, 'true')]).toEqual([0, 6]);
    expect(await rowsOf(other, HAS_CALLER)).toBe(6);
    expect((await progressOf(user)).body).toMatchObject({ status: 'finished', erased: 6 });
  });

  it('locks idempotency keys in the order in which publications lock them', async () => {
    const user = newUser();
    for (const key of ['b', 'a'])
      await succeed('/events', {
        client_id: service.development.clientId,
        external_user_id: user,
        merchant_id: 16,
        event: 'ACCOUNT_LOGIN_REQUIRED',
        idempotency_key: `${key} of ${user}`,
      });
    // With many keys of other events, PostgreSQL finds those of the user by their times.
    await service.database.query(
      `INSERT INTO webhook_event_key (client_id, key, event_id, content_hash, created_at)
       SELECT client_id, 'other ' || n, gen_random_uuid(), content_hash, created_at - n * interval '1 second'
         FROM webhook_event_key CROSS JOIN generate_series(1, 5000) n WHERE key = $1`,
      [`a of ${user}`],
    );
    await service.database.query('ANALYZE webhook_event_key');
    await erase(user);
    let finishing: Promise<unknown> | undefined;
    await service.app.get(DataSource).transaction(async (publication) => {
      const lock = (key: string, wait = '') =>
        publication.query(`SELECT FROM webhook_event_key WHERE key = $1 FOR UPDATE ${wait}`, [
          `${key} of ${user}`,
        ]);
      await lock('a');
      finishing = finishErasures(service);
      await eventually('the erasure waits for the first key', async () => {
        const waiting = await service.database.query(
          `SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%webhook_event_key%'`,
        );
        return waiting.length > 0;
      });
      await lock('b', 'NOWAIT');
    });
    await finishing;
    expect(await tablesOf(user)).toEqual([]);
    await service.database.query("DELETE FROM webhook_event_key WHERE key LIKE 'other %'");
  });

  it('deletes no saved filters and no responses to forms that do not select the user', async () => {
    const employee = await visitorWithRole(service);
    const list = '/dashboard/development/events';
    const [user, other] = [newUser(), newUser()];
    const save = (filters: string, filter_name: string) =>
      employee.fill(
        list,
        { page: `${list}?${filters}`, filter_name, page_token: randomUUID() },
        '/dashboard/saved-filters',
      );
    await save(`external_user_id=${user}`, 'One user');
    await save(`external_user_id=${other}`, 'Another user');
    await save('event=CARD_UPDATED', 'Cards of development');
    await save('event=AUTHENTICATED', `Like ${user}!`);
    const rows = (statement: string) => service.database.query<{ value: string }>(statement);
    const forms = () =>
      rows('SELECT form_hash AS value FROM submitted_form WHERE outcome_sealed IS NOT NULL');
    const names = async () =>
      (await rows('SELECT name AS value FROM saved_filter ORDER BY 1')).map(({ value }) => value);
    expect(await forms()).toHaveLength(4);
    for (const each of ['CARD_UPDATED', 'events', 'start', user]) await erase(each);
    await finishErasures(service);
    expect(await forms()).toHaveLength(3);
    expect(await names()).toEqual([
      'Another user',
      'Cards of development',
      expect.stringMatching(/^Like erased[0-9a-f]{8}!$/) as string,
    ]);
    await erase(other, service.production);
    expect(await forms()).toHaveLength(3);
    await erase('development');
    await finishErasures(service);
    expect(await names()).toContainEqual(expect.stringMatching(/^Cards of erased/) as string);
    await service.database.query('DELETE FROM saved_filter');
  });

  it('deletes saved searches for the user', async () => {
    const employee = await visitorWithRole(service);
    const user = newUser();
    const list = '/dashboard/development/customers';
    for (const [filter_name, search] of Object.entries({
      One: ` ${user.toUpperCase()} `,
      Other: `${user}0`,
    })) {
      const page = `${list}?${new URLSearchParams({ search }).toString()}`;
      expect((await employee.fill(list, { page, filter_name }, '/dashboard/saved-filters')).status).toBe(303);
    }
    await erase(user);
    await finishErasures(service);
    expect(await service.database.query('SELECT name FROM saved_filter')).toEqual([{ name: 'Other' }]);
    await service.database.query('DELETE FROM saved_filter');
  });

  it('renames saved filters whose names would be the same or too long without the user', async () => {
    const employee = await visitorWithRole(service);
    const user = 'e';
    const list = '/dashboard/development/events';
    const save = (filter_name: string) =>
      employee.fill(list, { page: `${list}?event=CARD_UPDATED`, filter_name }, '/dashboard/saved-filters');
    const long = 'x'.repeat(59);
    await save(`${long} e 1`);
    await save(`${long} e 2`);
    await save(`${long}123 e`);
    for (let times = 1; times <= 2; times += 1) {
      await save('All of e');
      await erase(user);
      await finishErasures(service);
      expect((await progressOf(user)).body.status).toBe('finished');
    }
    const names = await service.database.query<{ name: string }>('SELECT name FROM saved_filter');
    expect(names.filter(({ name }) => /^All of erased[0-9a-f]{8}$/.test(name))).toHaveLength(2);
    expect(names.filter(({ name }) => /^erased[0-9a-f]{8} [0-9a-f]{8}$/.test(name))).toHaveLength(3);
    await service.database.query('DELETE FROM saved_filter');
  });

  /** Runs the work while `forget_statistics` also adds a row to the table `renewed`, and fails for columns in `failing`. */
  async function watchingStatistics(
    work: (renewed: () => Promise<string[]>) => Promise<void>,
  ): Promise<void> {
    await service.database.query(`
      CREATE TABLE renewed (name text, number serial); CREATE TABLE failing (name text);
      ALTER FUNCTION forget_statistics RENAME TO really_forget_statistics;
      CREATE FUNCTION forget_statistics(of_table text, of_column text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        IF current_setting('statement_timeout') <> '0' THEN RAISE 'There is a time limit'; END IF;
        INSERT INTO renewed (name) VALUES (of_table || '.' || of_column);
        IF EXISTS (SELECT FROM failing WHERE name = of_table || '.' || of_column) THEN
          RAISE 'canceling statement due to statement timeout' USING ERRCODE = '57014';
        END IF;
        PERFORM really_forget_statistics(of_table, of_column);
      END $$`);
    try {
      await work(async () =>
        (await service.database.query<{ name: string }>('SELECT name FROM renewed ORDER BY number')).map(
          ({ name }) => name,
        ),
      );
    } finally {
      await service.database.query(`
        DROP FUNCTION forget_statistics; DROP TABLE renewed; DROP TABLE failing;
        ALTER FUNCTION really_forget_statistics RENAME TO forget_statistics`);
    }
  }

  it('renews the statistics of columns that hold the identifier, and clears none of tables with rows', async () => {
    const user = newUser();
    const other = await service.anotherOrganization();
    await meet(user);
    // Other clients have a user whose identifier contains it, and one who is called the same.
    await meet(`${user}0`, other.development);
    await mcpToken(service, 'development', { as: other.development });
    await service.database.query('ANALYZE');
    const kept = () =>
      service.database.query(
        `SELECT DISTINCT tablename, attname FROM pg_stats WHERE schemaname = 'public'
            AND tablename NOT IN (SELECT relname FROM pg_class WHERE relname = tablename AND reltuples = 0) ORDER BY 1, 2`,
      );
    const before = await kept();
    await watchingStatistics(async (renewed) => {
      await erase('development');
      await finishErasures(service);
      expect(await renewed()).toEqual([]);
      await erase(user);
      await finishErasures(service);
      const columns = (await renewed()).map((name) => name.replace(/^(.*?)(_default|_\d{8})\./, '$1.'));
      // Statistics of large tables have a sample.
      expect(columns).toEqual(expect.arrayContaining(['session.external_user_id', 'webhook_event.body']));
      expect([
        'detected_account.external_user_id',
        'mcp_token.external_user_id',
        'merchant_account.external_user_id',
        'request_log.external_user_id',
        'request_log.response_body',
        'session.card_id',
        'session.external_user_id',
        'session.metadata',
        'sign_in_link.external_user_id',
        'webhook_event.body',
        'webhook_event.external_user_id',
        'webhook_event_key.key',
      ]).toEqual(expect.arrayContaining(columns));
    });
    expect(await kept()).toEqual(before);
    expect(await tablesOf(user)).not.toContain(expect.stringMatching(/statistics of .*external_user_id/));
    expect(await countOf('mcp_token', 'development')).toBe(1);
  });

  it('renews the statistics of user agents that contain the identifier', async () => {
    const user = newUser();
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms,
                                external_user_id, user_agent)
       SELECT $1, 'development', now(), 'request', 'POST', '/mcp', 200, 1, $2::text, 'agent-of/' || $2::text
         FROM generate_series(1, 100)`,
      [service.development.clientId, user],
    );
    await service.database.query('ANALYZE request_log');
    const statistics = expect.stringMatching(/^statistics of request_log.*\.user_agent$/) as string;
    expect(await tablesOf(user)).toContainEqual(statistics);
    await erase(user);
    await finishErasures(service);
    expect(await tablesOf(user)).not.toContainEqual(statistics);
  });

  it('renews the statistics of a text once for all users whose identifiers are common words', async () => {
    const { clientId } = service.development;
    const words = ['validation', 'field', 'required'];
    for (const user of words) await meet(user);
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms, error_message)
       SELECT $1, 'development', now() - day * interval '1 day', 'request', 'POST', '/events', 400, 1,
              'The validation failed: the field is required'
         FROM generate_series(0, 1) day, generate_series(1, 1000)`,
      [clientId],
    );
    await service.database.query('ANALYZE');
    await watchingStatistics(async (renewed) => {
      for (const user of words) await erase(user);
      await finishErasures(service);
      for (const user of words) expect((await progressOf(user)).body.status).toBe('finished');
      const texts = (await renewed()).filter((name) => /^request_log.*\.error_message$/.test(name));
      expect(texts).toEqual(['request_log.error_message']);
    });
  });

  it('does not count statistics as renewed for an erasure that erases rows meanwhile', async () => {
    const users = [newUser(), newUser()];
    for (const user of users) await erase(user);
    const erasures = () =>
      service.database.query<{ id: string; renewed: string[] }>(
        `SELECT id, renewed_columns AS renewed FROM user_erasure WHERE client_id = $1 AND finished_at IS NULL
          ORDER BY requested_at DESC, id LIMIT 2`,
        [service.development.clientId],
      );
    const [erasure, other] = await erasures();
    await watchingStatistics(async () => {
      await service.database.query(
        `CREATE RULE meanwhile AS ON INSERT TO renewed
           DO ALSO UPDATE user_erasure SET erased = erased + 1 WHERE id = '${other?.id}'`,
      );
      const { clientId } = service.development;
      const column = { table: 'session', column: 'metadata', hasEnvironment: true };
      await inTransaction(() =>
        service.app
          .get(UserErasuresRepository)
          .renewStatistics(erasure?.id ?? '', { clientId, externalUserId: users[0] ?? '' }, column),
      );
    });
    const renewed = new Map((await erasures()).map((each) => [each.id, each.renewed]));
    expect(renewed.get(erasure?.id ?? '')).toContain('session.metadata');
    expect(renewed.get(other?.id ?? '')).toEqual([]);
    await finishErasures(service);
  });

  it('renews each column in a statement without a time limit, and not again after a failure', async () => {
    const user = newUser();
    await meet(user);
    await service.database.query('ANALYZE');
    await watchingStatistics(async (renewed) => {
      await service.database.query(`INSERT INTO failing VALUES ('session.metadata')`);
      await erase(user);
      await finishErasures(service);
      const first = await renewed();
      expect(first.length).toBeGreaterThan(3);
      expect((await progressOf(user)).body.status).toBe('running');
      await service.database.query('DELETE FROM failing');
      using _later = moveClock(service, 2 * MINUTE);
      await service.app.get(UserErasuresJob).run();
      expect((await progressOf(user)).body.status).toBe('finished');
      const all = await renewed();
      expect(all.filter((name) => name !== 'session.metadata')).toEqual(
        [...new Set(all)].filter((name) => name !== 'session.metadata'),
      );
    });
  });

  it('does not wait for the erasures that another client requested before', async () => {
    const other = await service.anotherOrganization();
    const users = Array.from({ length: 40 }, newUser);
    for (const user of users) await erase(user, other.development);
    const { development: late } = await service.anotherOrganization();
    await erase(newUser(), late);
    await finishErasures(service);
    const order = await service.database.query<{ client_id: string }>(
      'SELECT client_id FROM user_erasure WHERE client_id = ANY ($1) ORDER BY finished_at, claimed_at',
      [[other.development.clientId, late.clientId]],
    );
    expect(order).toHaveLength(41);
    expect(order.slice(0, 2).map(({ client_id }) => client_id)).toContain(late.clientId);
  });

  it('does not wait longer for a client that was served while a clock was ahead', async () => {
    const { development: served } = await service.anotherOrganization();
    const { development: other } = await service.anotherOrganization();
    const [user, users] = [newUser(), Array.from({ length: 3 }, newUser)];
    await erase(user, served);
    for (const each of users) await erase(each, other);
    await service.database.query(
      `UPDATE user_erasure SET claimed_at = now() + interval '1 day' WHERE client_id = $1`,
      [served.clientId],
    );
    expect([await claim(), await claim()].map(({ clientId }) => clientId)).toContain(served.clientId);
    await finishErasures(service);
  });

  it('is found without reading all others that wait', async () => {
    let rowsRead = 0;
    let claimed: ClaimedErasure[] = [];
    const rolledBack = inTransaction(async () => {
      const { manager } = service.app.get(Transaction);
      await manager.query(
        `INSERT INTO user_erasure (id, client_id, pseudonym, external_user_id_sealed, requested_at, due_at)
         SELECT gen_random_uuid(), CASE WHEN n <= 2000 THEN $1 ELSE $2 END::uuid, 'erased_' || n, '', now(), now()
           FROM generate_series(1, 2001) n`,
        [service.development.clientId, service.production.clientId],
      );
      await manager.query('ANALYZE user_erasure');
      const counted = async (): Promise<number> => {
        const [row] = await manager.query<[{ count: number }]>(
          `SELECT (seq_tup_read + idx_tup_fetch)::integer AS count FROM pg_stat_xact_user_tables WHERE relname = 'user_erasure'`,
        );
        return row.count;
      };
      const before = await counted();
      claimed = [await claim(), await claim()];
      rowsRead = (await counted()) - before;
      throw new Error('Undo');
    });
    await expect(rolledBack).rejects.toThrow('Undo');
    expect(new Set(claimed.map(({ clientId }) => clientId)).size).toBe(2);
    expect(rowsRead).toBeLessThan(200);
  });

  /** Claims an erasure as the job does. */
  async function claim(): Promise<ClaimedErasure> {
    const now = service.app.get(Clock).now();
    const claimed = await service.app
      .get(UserErasuresRepository)
      .claim(now, new Date(now.getTime() + 30 * SECOND));
    if (!claimed) throw new Error('No erasure is due');
    return claimed;
  }

  /** Sends requests of other users until the work is done. @returns how many were answered before */
  async function requestsDuring(work: Promise<unknown>): Promise<number> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    let answered = 0;
    for (; !isDone; answered += 1) await mcpToken(service, newUser());
    await done;
    return answered;
  }
});
