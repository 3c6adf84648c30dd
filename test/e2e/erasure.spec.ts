import { randomUUID } from 'node:crypto';
import { MINUTE, SECOND } from '../../src/infrastructure/time/index.js';
import type { IssuedCredentials } from '../../src/modules/api-clients/index.js';
import { DetectedAccountsRepository } from '../../src/modules/detected-accounts/detected-accounts.repository.js';
import { UserErasuresService } from '../../src/modules/external-users/user-erasures.service.js';
import { RequestLogRepository, RequestLogWriter } from '../../src/modules/request-logs/index.js';
import { EntrySpool } from '../../src/modules/request-logs/writing/entry-spool.js';
import { DeliveryQueueRepository } from '../../src/modules/webhooks/queue/delivery-queue.repository.js';
import { mcpToken } from '../support/agents.js';
import { moveClock } from '../support/clock.js';
import {
  erasuresOf,
  finishErasures,
  jobOfAnotherProcess,
  MANY,
  newUser,
  pathOf,
  type Erasure,
} from '../support/erasures.js';
import { eventually } from '../support/eventually.js';
import { TestGateway } from '../support/merchant-gateway.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../support/request-log-entries.js';
import { issueServiceToken } from '../support/service-tokens.js';
import { SignInLinksService } from '../../src/modules/sign-in-links/index.js';
import { NETFLIX, newAgent } from '../support/sign-in-links.js';
import { error, invalidField, useTestApp, type TestResponse } from '../support/test-app.js';
import { expectUsualErrors } from '../support/usual-errors.js';
import { BEHIND_PROXY, visitorWithRole } from '../support/visitor.js';
import { addEndpoint } from '../support/webhook-receiver.js';

let gateway: TestGateway;
beforeAll(async () => void (gateway = await TestGateway.start()));
const service = useTestApp(() => ({
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
  await service.app.get(SignInLinksService).create({ ...agent, externalUserId: user }, NETFLIX.id);
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
    await finishErasures(service);
    expect(await state()).toEqual({ waiting: 3, claimed: 0, in_flight: 0 });
    // A recovery of the endpoint does not bring them back.
    expect(await queue.addMissing(id, [event])).toBe(0);
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

  it('starts one erasure for 20 concurrent requests', async () => {
    const user = newUser();
    await meet(user);
    const responses = await Promise.all(Array.from({ length: 20 }, () => erase(user)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202));
    const job = service.app.get(UserErasuresService);
    const first = job.run();
    // Another process works on the same erasure.
    await service.database.query("UPDATE user_erasure SET due_at = '-infinity' WHERE finished_at IS NULL");
    await Promise.all([first, (await jobOfAnotherProcess(service)).run()]);
    await finishErasures(service);
    expect(await tablesOf(user)).toEqual([]);
    const finished = await progressOf(user);
    expect(finished.body.status).toBe('finished');
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
    const job = service.app.get(UserErasuresService);
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
      for (const externalUserId of [user, other])
        await writer.write(loggedRequest(client, { createdAt: before, externalUserId }));
      const files = service.app.get(EntrySpool);
      await files.save([loggedRequest(client, { createdAt: before, externalUserId: user })]);
      files.onApplicationBootstrap();
      await eventually('the file is written', async () => (await files.ids()).length === 0);
    }
    expect(await countOf('request_log', user)).toBe(0);
    expect(await countOf('request_log', pseudonym)).toBe(2);
    expect(await countOf('request_log', other)).toBe(1);
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
  it('is continued by another process when its process stops', async () => {
    const user = newUser();
    await addEntriesOf(user);
    await erase(user);
    const stopping = await jobOfAnotherProcess(service);
    const running = stopping.run();
    await eventually('the job works', async () => (await countOf('request_log', user)) < MANY);
    await stopping.onApplicationShutdown();
    await running;
    expect(await countOf('request_log', user)).toBeGreaterThan(0);
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
    await service.app.get(UserErasuresService).run();
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
    const pseudonym = 'erased_test';
    const { clientId } = service.development;
    const batch = { clientId, environment: 'development', externalUserId: user, pseudonym } as const;
    expect(await log.eraseBatch(batch)).toBe(1_000);
    await erase(user);
    const erasing = finishErasures(service);
    // With all rows locked at once, a request would wait until the end.
    expect(await requestsDuring(erasing)).toBeGreaterThan(1);
    expect(await tablesOf(user)).toEqual([]);
  });

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
