import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { AttributedClient } from '../../../src/infrastructure/http/index.js';
import type {
  LoggedAttempt,
  NewRequestLogEntry,
  RequestLogPosition,
} from '../../../src/modules/request-logs/request-log-entry.js';
import type { RequestLogSelection } from '../../../src/modules/request-logs/storage/request-log.repository.js';
import {
  RequestLogRepository,
  type RequestLogFilter,
  type RequestLogEntry,
} from '../../../src/modules/request-logs/index.js';
import { DailyPartitions } from '../../../src/infrastructure/database/index.js';
import { whileLogIsLocked } from '../../support/database/locked-log.js';
import { loggedAttempt, loggedRequest } from '../../support/logs/request-log-entries.js';
import { useTestApp } from '../../support/test-app.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MINUTE = HOUR / 60;
const MAX_ENTRIES = 1_000;
const EVENTS = ['CARD_UPDATED', 'AUTHENTICATED'];

/** Returns an entry as the repository reads it, in the form of the API. */
function readBack({ attempt, ...entry }: NewRequestLogEntry): RequestLogEntry {
  const delivery = attempt && {
    webhook_endpoint_id: attempt.endpointId,
    event_id: attempt.eventId,
    attempt: attempt.number,
    reason: attempt.reason,
    dns_ms: attempt.phases.dns,
    connect_ms: attempt.phases.connect,
    tls_ms: attempt.phases.tls,
    first_byte_ms: attempt.phases.firstByte,
  };
  return {
    id: expect.any(Number) as number,
    type: entry.type,
    datetime: entry.createdAt,
    method: entry.method,
    path: entry.path,
    url: entry.url,
    event: entry.event,
    status_code: entry.statusCode,
    latency_ms: entry.latencyMilliseconds,
    session_id: entry.sessionId,
    task_id: entry.taskId,
    external_user_id: entry.externalUserId,
    tool: entry.tool ?? null,
    agent: entry.agent ?? null,
    api_key: entry.apiKey ?? null,
    error_code: entry.errorCode ?? null,
    error_message: entry.errorMessage ?? null,
    request_id: entry.requestId ?? null,
    endpoint_id: attempt?.endpointId ?? null,
    event_id: attempt?.eventId ?? null,
    reason: attempt?.reason ?? null,
    delivery: delivery ?? null,
  };
}

describe('The repository of the request log', () => {
  const now = new Date();
  const service = useTestApp({ REQUEST_LOG_QUERY_TIMEOUT_MS: '300' });
  let repository: RequestLogRepository;

  beforeAll(async () => {
    repository = service.app.get(RequestLogRepository);
  });

  const at = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
  const someClient = (): AttributedClient => ({ clientId: randomUUID(), environment: 'production' });
  const requestOf = (
    client: AttributedClient,
    change: Partial<NewRequestLogEntry> = {},
  ): NewRequestLogEntry => loggedRequest(client, { createdAt: at(-HOUR), ...change });
  const attemptOf = (
    client: AttributedClient,
    change: Partial<NewRequestLogEntry> = {},
  ): NewRequestLogEntry => loggedAttempt(client, { createdAt: at(-HOUR), ...change });
  const allOf = (client: AttributedClient, filter: RequestLogFilter = {}): RequestLogSelection => ({
    client,
    period: { start: at(-DAY), end: at(DAY) },
    filter,
  });

  const newest = (selection: RequestLogSelection, limit = MAX_ENTRIES): Promise<RequestLogEntry[]> =>
    repository.newest(selection, { before: undefined, limit });

  /** Reads pages until one is not full. */
  async function walk(
    page: (position: RequestLogPosition | undefined) => Promise<RequestLogEntry[]>,
    size: number,
  ): Promise<RequestLogEntry[]> {
    const walked: RequestLogEntry[] = [];
    for (;;) {
      const entries = await page(walked.at(-1));
      walked.push(...entries);
      if (entries.length < size) return walked;
    }
  }

  it('returns what was written', async () => {
    const client = someClient();
    const written = [
      requestOf(client, { path: '/mcp', tool: 'search_merchants', createdAt: at(-4) }),
      requestOf(client, { externalUserId: 'ä\u{1F600}', sessionId: randomUUID(), createdAt: at(-3) }),
      attemptOf(client, { createdAt: at(-2) }),
      attemptOf(client, {
        createdAt: at(-1),
        sessionId: null,
        taskId: Number.MAX_SAFE_INTEGER,
        externalUserId: null,
        statusCode: 0,
      }),
    ];
    await repository.append(written);
    const found = await newest(allOf(client));
    expect(found.toReversed()).toEqual(written.map(readBack));
    expect(found.every(({ id }) => Number.isSafeInteger(id) && id > 0)).toBe(true);
    expect(new Set(found.map(({ id }) => id)).size).toBe(written.length);
  });

  it('writes all entries or none', async () => {
    const client = someClient();
    const impossible = requestOf(client, { externalUserId: '\0' });
    await expect(repository.append([requestOf(client), impossible, requestOf(client)])).rejects.toThrow();
    expect(await newest(allOf(client))).toEqual([]);
    await repository.append([]);
  });

  it('separates clients and environments', async () => {
    const one = someClient();
    const clients = [one, { ...one, environment: 'development' as const }, someClient()];
    for (const client of clients) await repository.append([requestOf(client), attemptOf(client)]);
    for (const client of clients) expect(await newest(allOf(client))).toHaveLength(2);
    expect(await newest(allOf(someClient()))).toEqual([]);
  });

  it('includes both ends of a period, to the millisecond', async () => {
    const client = someClient();
    await repository.append([-1, 0, 1, 2, 3].map((offset) => requestOf(client, { createdAt: at(offset) })));
    const offsets = async (start: number, end: number): Promise<number[]> => {
      const selection = { client, period: { start: at(start), end: at(end) }, filter: {} };
      const [down, up] = [
        await newest(selection),
        await repository.oldest(selection, { after: undefined, limit: MAX_ENTRIES }),
      ];
      expect(up).toEqual(down.toReversed());
      return up.map(({ datetime }) => datetime.getTime() - now.getTime());
    };
    expect(await offsets(0, 2)).toEqual([0, 1, 2]);
    expect(await offsets(-1, -1)).toEqual([-1]);
    expect(await offsets(4, 9)).toEqual([]);
    expect(await offsets(-DAY, DAY)).toEqual([-1, 0, 1, 2, 3]);
  });

  it('pages in a stable order without gaps or duplicates, also for equal times', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -3, max: 0 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        async (offsets, size) => {
          const client = someClient();
          await repository.append(
            offsets.map((offset) => requestOf(client, { createdAt: at(offset * HOUR) })),
          );
          const selection = allOf(client);
          const whole = await newest(selection);
          expect(whole.map(({ datetime }) => datetime)).toEqual(
            offsets.toSorted((left, right) => right - left).map((offset) => at(offset * HOUR)),
          );
          const down = await walk((before) => repository.newest(selection, { before, limit: size }), size);
          expect(down).toEqual(whole);
          const up = await walk((after) => repository.oldest(selection, { after, limit: size }), size);
          expect(up).toEqual(whole.toReversed());
        },
      ),
      { numRuns: 25 },
    );
  });

  it('finds the entries that match all given filters, and no others', async () => {
    const client = someClient();
    const sessions = [randomUUID(), randomUUID()];
    const endpoints = [randomUUID(), randomUUID()];
    const eventIds = [randomUUID(), randomUUID()];
    const { attempt } = attemptOf(client);
    const entry = fc.record({
      isWebhook: fc.boolean(),
      session: fc.option(fc.constantFrom(...sessions)),
      task: fc.option(fc.constantFrom(1, 2)),
      user: fc.option(fc.constantFrom('a', 'A')),
      event: fc.constantFrom(...EVENTS),
      endpointId: fc.constantFrom(...endpoints),
      eventId: fc.constantFrom(...eventIds),
      status: fc.constantFrom(200, 201, 404, 0),
    });
    const [entries = []] = fc.sample(fc.array(entry, { minLength: 150, maxLength: 150 }), 1);
    await repository.append(
      entries.map((each, index) => {
        const change = {
          createdAt: at(-Math.floor(index / 10) * HOUR),
          sessionId: each.session,
          externalUserId: each.user,
          statusCode: each.status,
        };
        return each.isWebhook
          ? attemptOf(client, {
              ...change,
              event: each.event,
              taskId: each.task,
              attempt: {
                ...(attempt as LoggedAttempt),
                endpointId: each.endpointId,
                eventId: each.eventId,
              },
            })
          : requestOf(client, change);
      }),
    );
    const all = await newest(allOf(client));
    expect(all).toHaveLength(150);
    const filter = fc.record<RequestLogFilter>(
      {
        type: fc.constantFrom('request', 'webhook'),
        session_id: fc.constantFrom(...sessions, randomUUID()),
        task_id: fc.constantFrom(1, 2, 3),
        external_user_id: fc.constantFrom('a', 'A', 'á'),
        event: fc.constantFrom(...EVENTS, 'CARD_FAILED'),
        status_code: fc.constantFrom(200, 201, 404, 500),
        endpoint_id: fc.constantFrom(...endpoints, randomUUID()),
        event_id: fc.constantFrom(...eventIds, randomUUID()),
        outcome: fc.constantFrom('success', 'failure'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(filter, async (filter) => {
        const expected = all.filter((each) => {
          const succeeded = each.type === 'webhook' ? each.status_code === 200 : each.status_code < 400;
          const values = { ...each, outcome: succeeded ? 'success' : 'failure' };
          return Object.entries(filter).every(([key, value]) => Reflect.get(values, key) === value);
        });
        expect(await newest(allOf(client, filter))).toEqual(expected);
        expect(
          await walk((before) => repository.newest(allOf(client, filter), { before, limit: 4 }), 4),
        ).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('finds one entry by its ID, only for the given clients', async () => {
    const [one, other] = [someClient(), someClient()];
    await repository.append([requestOf(one), attemptOf(one, { createdAt: at(-5 * DAY) })]);
    const entries = await newest({
      client: one,
      period: { start: at(-6 * DAY), end: at(0) },
      filter: {},
    });
    expect(entries).toHaveLength(2);
    for (const entry of entries) {
      const found = await repository.find([one], entry.id);
      expect(found).toMatchObject(entry);
      expect(await repository.find([other, one], entry.id)).toEqual(found);
      expect(await repository.find([other], entry.id)).toBeUndefined();
      expect(await repository.find([], entry.id)).toBeUndefined();
    }
    expect(await repository.find([one], Number.MAX_SAFE_INTEGER)).toBeUndefined();
  });

  it('returns each delivery attempt to an endpoint once, page by page, oldest first', async () => {
    const client = someClient();
    const endpointId = randomUUID();
    const attempt = (minutes: number, reason: string | null, to = endpointId): NewRequestLogEntry =>
      attemptOf(client, {
        createdAt: at(minutes * MINUTE),
        attempt: {
          endpointId: to,
          eventId: randomUUID(),
          number: 1,
          reason,
          phases: { dns: null, connect: null, tls: null, firstByte: null },
        },
      });
    // More than a page, several in each millisecond.
    const entries = Array.from({ length: 6_000 }, (_, index) =>
      attempt(Math.floor(index / 10) - 700, index % 3 === 0 ? null : 'TIMEOUT'),
    );
    await repository.append([...entries, attempt(-800, null), attempt(-1, null, randomUUID())]);
    await repository.append([attemptOf(client), requestOf(client)]);
    const found: { eventId: string; hasFailed: boolean }[] = [];
    let position = { createdAt: at(-700 * MINUTE), id: '0' };
    for (;;) {
      const page = await repository.attempts({ endpointId, clientId: client.clientId }, position);
      const last = page.at(-1);
      if (!last) break;
      found.push(...page);
      position = last;
    }
    expect(found.map(({ eventId, hasFailed }) => [eventId, hasFailed])).toEqual(
      entries.map((entry) => [entry.attempt?.eventId, entry.attempt?.reason !== null]),
    );
  });

  it('drops entries past retention, keeps the others, and prepares the coming days', async () => {
    const client = someClient();
    const days = [-12, -10, -1, 0, 1, 6];
    await repository.append(days.map((day) => requestOf(client, { createdAt: at(day * DAY) })));
    await service.app.get(DailyPartitions).rotate('request_log', now, { days: 10 });
    const selection = { client, period: { start: at(-20 * DAY), end: at(20 * DAY) }, filter: {} };
    const kept = (await newest(selection)).map(({ datetime }) => (datetime.getTime() - now.getTime()) / DAY);
    expect(kept).toEqual([6, 1, 0, -1, -10]);
    const parts = await service.app.get(DailyPartitions).status('request_log');
    const today = parts.filter(({ from, to }) => from && to && from <= now && now < to);
    expect(today).toHaveLength(1);
    expect(parts.every(({ bytes, entries }) => bytes >= 0 && entries >= 0)).toBe(true);
  });

  it('cancels a query that exceeds the timeout, and runs the next one', async () => {
    const client = someClient();
    await repository.append([requestOf(client)]);
    const timeout = { code: 'REQUEST_LOG_QUERY_TIMEOUT' };
    await whileLogIsLocked(service.database, async () => {
      await Promise.all([
        expect(newest(allOf(client))).rejects.toMatchObject(timeout),
        expect(repository.oldest(allOf(client), { after: undefined, limit: 1 })).rejects.toMatchObject(
          timeout,
        ),
        expect(repository.find([client], 1)).rejects.toMatchObject(timeout),
      ]);
    });
    expect(await newest(allOf(client))).toHaveLength(1);
  });
});
