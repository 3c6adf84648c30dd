import {
  AUDIT_ACTION_NAMES,
  auditAction,
  type AuditAction,
} from '../../../src/infrastructure/audit-catalog/index.js';
import { TransactionHost } from '@nestjs-cls/transactional';
import { DataSource } from 'typeorm';
import { AuditRecorder, type DashboardActor } from '../../../src/infrastructure/auth/index.js';
import { Clock, HOUR } from '../../../src/infrastructure/time/index.js';
import {
  AuditLog,
  AuditVerification,
  type AuditActor,
  type AuditRecord,
} from '../../../src/modules/audit-logs/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { addOrganization, fillAuditLog } from '../../support/logs/audit-entries.js';
import { moveClock, stopClock } from '../../support/clock.js';
import { LIST_AUDIT_LOGS } from '../../support/documents/operations.js';
import {
  error,
  invalidField,
  useTestApp,
  type TestResponse,
  alteredCursors,
  INVALID_CURSOR,
} from '../../support/test-app.js';

const PATH = LIST_AUDIT_LOGS.path;
const PAGE = 100;

interface Entry {
  readonly id: string;
  readonly datetime: string;
  readonly event: { readonly action: string; readonly outcome: { readonly status: string } };
  readonly actor: { readonly name: string; readonly email: string };
  readonly target: { readonly type: string; readonly name: string | null; readonly environment: string };
  readonly context: { readonly ip: string; readonly user_agent: string };
}

interface Page {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
  readonly limit: number;
}

const service = useTestApp();
let otherOrganization: { id: string; production: IssuedCredentials };

beforeAll(async () => {
  const { production } = await service.anotherOrganization();
  const [row] = await service.database.query<{ id: string }>(
    'SELECT organization_id AS id FROM api_client WHERE id = $1',
    [production.clientId],
  );
  otherOrganization = { id: row?.id ?? '', production };
});
beforeEach(async () => {
  // Only a superuser can empty the table.
  await service.database.query(
    `BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE audit_log; TRUNCATE audit_chain; COMMIT`,
  );
});

const auditLog = (): AuditLog => service.app.get(AuditLog);
const actorOf = (organizationId: string): AuditActor => ({
  organizationId,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  origin: { ip: '203.0.113.7', userAgent: 'Firefox' },
});
const auditRecord = (change: Partial<AuditRecord> = {}): AuditRecord => ({
  action: 'user.add',
  actor: actorOf(service.organizationId),
  ...change,
});

/** Creates entries that are named by their number. */
async function recordMany(count: number, organizationId = service.organizationId): Promise<void> {
  for (let number = 1; number <= count; number += 1)
    await auditLog().record(
      auditRecord({ actor: actorOf(organizationId), target: { name: `entry ${number}` } }),
    );
}

async function list(
  query: Readonly<Record<string, string>> = {},
  as: IssuedCredentials = service.production,
): Promise<TestResponse<Page>> {
  return service.request<Page>(`${PATH}?${new URLSearchParams(query)}`, { as });
}

/** Returns all pages, running a callback after each. */
async function walk(
  query: Readonly<Record<string, string>> = {},
  between: () => Promise<void> = async () => undefined,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const { status, body }: TestResponse<Page> = await list({
      ...query,
      ...(cursor === null ? {} : { cursor }),
    });
    expect(status).toBe(200);
    pages.push(body);
    cursor = body.next_cursor;
    await between();
  } while (cursor !== null);
  return pages;
}

const namesOf = (pages: readonly Page[]): (string | null)[] =>
  pages.flatMap(({ data }) => data.map(({ target }) => target.name));
const descendingNames = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `entry ${count - index}`);

describe('GET /audit_logs', () => {
  it('lists the recorded entries', async () => {
    {
      using _clock = stopClock(service, new Date('2026-01-31T08:15:30.123Z'));
      await auditLog().record(
        auditRecord({
          action: 'webhook.delete',
          target: { name: 'https://example.com/hooks', environment: 'development' },
          outcome: 'failure',
        }),
      );
      await auditLog().record(auditRecord({ action: 'secret.view' }));
    }
    const { status, body } = await list();
    expect(status).toBe(200);
    const common = {
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      datetime: '2026-01-31T08:15:30.123Z',
      actor: { name: 'Ada Lovelace', email: 'ada@example.com' },
      context: { ip: '203.0.113.7', user_agent: 'Firefox' },
      changes: null,
    };
    expect(body).toEqual({
      data: [
        {
          ...common,
          event: { action: 'secret.view', outcome: { status: 'success' } },
          target: { type: 'secret', name: null, environment: 'production' },
        },
        {
          ...common,
          event: { action: 'webhook.delete', outcome: { status: 'failure' } },
          target: {
            type: 'webhook_endpoint',
            name: 'https://example.com/hooks',
            environment: 'development',
          },
        },
      ],
      next_cursor: null,
      limit: PAGE,
    });
  });

  it('records every action of the catalog', async () => {
    for (const action of AUDIT_ACTION_NAMES) await auditLog().record(auditRecord({ action }));
    const { body } = await list();
    expect(body.data.map(({ event, target }) => [event.action, target.type]).toReversed()).toEqual(
      AUDIT_ACTION_NAMES.map((action) => [action, auditAction(action).target.type]),
    );
  });

  it('does not compile with other actions', () => {
    // @ts-expect-error: `npm run types` fails if this ever compiles.
    const action: AuditAction = 'user.adds';
    expect(AUDIT_ACTION_NAMES).not.toContain(action);
  });

  it('returns an empty list if nothing was recorded', async () => {
    expect((await list()).body).toEqual({ data: [], next_cursor: null, limit: PAGE });
  });

  it('returns pages of the size that the request asks for', async () => {
    await recordMany(5);
    const pages = await walk({ limit: '2' });
    expect(pages.map(({ data, limit }) => [data.length, limit])).toEqual([
      [2, 2],
      [2, 2],
      [1, 2],
    ]);
    expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(5);
  });

  it('returns a cursor only if there is a next page', async () => {
    await recordMany(PAGE);
    expect((await list()).body.next_cursor).toBeNull();
    await recordMany(1);
    const pages = await walk();
    expect(pages.map(({ data }) => data.length)).toEqual([PAGE, 1]);
  });

  it('pages through entries of the same time without gaps or duplicates', async () => {
    {
      using _clock = stopClock(service, new Date('2026-01-31T08:15:30.123Z'));
      await recordMany(350);
    }
    const pages = await walk();
    expect(namesOf(pages)).toEqual(descendingNames(350));
    expect(pages.map(({ data }) => data.length)).toEqual([PAGE, PAGE, PAGE, 50]);
    const bounds = { start: '2026-01-31T08:15:30Z', end: '2026-01-31T08:15:31Z' };
    expect(namesOf(await walk(bounds))).toEqual(descendingNames(350));
  });

  it('does not shift pages if entries are added meanwhile', async () => {
    await recordMany(330);
    const [bounded, unbounded] = [{ start: '2026-01-01T00:00:00Z', end: '2099-01-01T00:00:00Z' }, {}];
    expect(namesOf(await walk(unbounded, () => recordMany(30)))).toEqual(descendingNames(330));
    const before = namesOf(await walk());
    expect(before).toHaveLength(330 + 4 * 30);
    expect(namesOf(await walk(bounded, () => recordMany(30)))).toEqual(before);
  });

  it('never shows entries of another organization', async () => {
    await recordMany(3, otherOrganization.id);
    await recordMany(2);
    const { body } = await list();
    expect(namesOf([body])).toEqual(descendingNames(2));
    expect(namesOf([(await list({}, otherOrganization.production)).body])).toEqual(descendingNames(3));
  });

  it('is itself logged in the request log', async () => {
    await list({ start: '2026-01-31T08:15:30Z' });
    await list({ start: 'yesterday' });
    await list({}, service.development);
    const entries = await service.database.query(
      `SELECT environment, method, path, url, status_code FROM request_log WHERE client_id = ANY ($1)
        ORDER BY id DESC LIMIT 3`,
      [[service.production.clientId, service.development.clientId]],
    );
    const common = { method: 'GET', path: PATH, url: null };
    expect(entries.toReversed()).toEqual([
      { ...common, environment: 'production', status_code: 200 },
      { ...common, environment: 'production', status_code: 400 },
      { ...common, environment: 'development', status_code: 403 },
    ]);
  });
});

describe('Authorization for GET /audit_logs', () => {
  const MISMATCH = error(
    'INVALID_REQUEST',
    'ENVIRONMENT_MISMATCH',
    'Audit logs belong to the production environment: use production credentials.',
  );

  it('checks credentials, then the environment, then the parameters', async () => {
    for (const query of ['', '?start=yesterday', '?nonsense=1', '?cursor=x']) {
      const anonymous = await service.request(`${PATH}${query}`);
      expect(anonymous.status).toBe(401);
      expect(anonymous.body).toMatchObject({ error_code: 'INVALID_API_KEYS' });
      expect(anonymous.headers.get('www-authenticate')).toMatch(/^Basic /);
      const development = await service.request(`${PATH}${query}`, { as: service.development });
      expect([development.status, development.body]).toEqual([403, MISMATCH]);
    }
  });
});

describe('Period of GET /audit_logs', () => {
  const TIMES = [
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00.001Z',
    '2026-01-01T00:00:00.999Z',
    '2026-01-01T00:00:01.000Z',
    '2026-02-28T23:59:59.000Z',
  ] as const;

  beforeEach(async () => {
    const entries = TIMES.map((time) => ({ createdAt: new Date(time) }));
    await fillAuditLog(service.database, service.organizationId, entries);
  });

  const timesWithin = async (query: Readonly<Record<string, string>>): Promise<string[]> => {
    const { status, body } = await list(query);
    expect(status).toBe(200);
    return body.data.map(({ datetime }) => datetime).toReversed();
  };

  it.each<[Record<string, string>, number, number]>([
    [{}, 0, 5],
    [{ start: '2026-01-01T00:00:00Z' }, 0, 5],
    [{ start: '2026-01-01T00:00:00.001Z' }, 1, 5],
    [{ start: '2026-01-01T00:00:00.0011Z' }, 2, 5],
    [{ start: '2026-01-01T00:00:01Z' }, 3, 5],
    [{ start: '2026-02-28T23:59:59Z' }, 4, 5],
    [{ start: '2026-03-01T00:00:00Z' }, 5, 5],
    [{ end: '2025-12-31T23:59:59Z' }, 0, 0],
    [{ end: '2026-01-01T00:00:00Z' }, 0, 1],
    [{ end: '2026-01-01T00:00:00.9989Z' }, 0, 2],
    [{ end: '2026-01-01T00:00:00.9999Z' }, 0, 3],
    [{ end: '2026-01-01T00:00:01Z' }, 0, 4],
    [{ start: '2026-01-01T00:00:01Z', end: '2026-01-01T00:00:01Z' }, 3, 4],
    [{ start: '2026-01-01T00:00:00.001Z', end: '2026-01-01T00:00:01.000Z' }, 1, 4],
    [{ start: '0000-01-01T00:00:00Z', end: '9999-12-31T23:59:59.999Z' }, 0, 5],
    [{ start: '0000-01-01T00:00:00-23:59', end: '9999-12-31T23:59:59+23:59' }, 0, 5],
    [{ start: '2026-01-01T05:30:01+05:30', end: '2026-02-28T18:59:59-05:00' }, 3, 5],
    [{ start: '2025-12-31T19:00:00.0011-05:00', end: '2026-01-01T00:00:01+00:00' }, 2, 4],
    [{ start: '2026-01-01T05:30+05:30[Asia/Kolkata]', end: '2026-01-01 00:00:00.999+00' }, 0, 3],
  ])('includes both ends: %j', async (query, from, to) => {
    expect(await timesWithin(query)).toEqual(TIMES.slice(from, to));
  });

  it('accepts the plus sign of an offset unencoded', async () => {
    const query = '?start=2026-01-01T05:30:01+05:30&end=2026-01-01T05:30:01%2B05:30';
    const { status, body } = await service.request<Page>(`${PATH}${query}`, {
      as: service.production,
    });
    expect([status, body.data.map(({ datetime }) => datetime)]).toEqual([200, TIMES.slice(3, 4)]);
  });

  it.each(['start', 'end', 'cursor', 'next_cursor'])('refuses a blank %s', async (name) => {
    for (const blank of ['', '%20']) {
      const { status, body } = await service.request(`/audit_logs?${name}=${blank}`, {
        as: service.production,
      });
      expect([status, body]).toEqual([400, invalidField(`The query parameter ${name} must not be blank.`)]);
    }
  });

  it('requires the start before the end', async () => {
    const { status, body } = await list({ start: '2026-01-02T00:00:00Z', end: '2026-01-01T23:59:59.999Z' });
    expect([status, body]).toEqual([400, invalidField('The start field must not be after the end field.')]);
  });

  it.each([
    ['?limit=0', 'The limit field must be at least 1.'],
    ['?limit=101', 'The limit field must not be greater than 100.'],
    ['?Start=2026-01-01T00:00:00Z', 'The query parameter Start is not known. Did you mean start?'],
    ['?start[]=2026-01-01T00:00:00Z', 'The query parameter is not known.'],
    ['?__proto__=1', 'The query parameter __proto__ is not known.'],
    ['?constructor=1', 'The query parameter constructor is not known.'],
    [
      '?start=2026-01-01T00:00:00Z&start=2026-01-01T00:00:00Z',
      'The query parameter start is given more than once.',
    ],
    ['?cursor=a&cursor=a', 'The query parameter cursor is given more than once.'],
    ['?start=x&end=y', 'The start field must be a date and time such as 2026-01-31T08:15:30Z.'],
    [
      '?start=2026-01-01T00:00:00Z&end=y&cursor=a&next_cursor=b',
      'The end field must be a date and time such as 2026-01-31T08:15:30Z.',
    ],
    ['?cursor=a&next_cursor=b', 'The cursor and next cursor fields must not differ.'],
  ])('rejects other parameters: %s', async (query, message) => {
    const { status, body } = await service.request(`${PATH}${query}`, { as: service.production });
    expect([status, body]).toEqual([400, invalidField(message)]);
  });
});

describe('Cursors of GET /audit_logs', () => {
  const BOUNDS = { start: '2026-01-01T00:00:00Z', end: '2026-01-31T00:00:00Z' };
  let cursor: string;
  let bounded: string;

  beforeEach(async () => {
    const entries = Array.from({ length: 2 * PAGE }, () => ({}));
    await fillAuditLog(service.database, service.organizationId, entries);
    await fillAuditLog(service.database, otherOrganization.id, entries);
    cursor = (await list()).body.next_cursor ?? '';
    bounded = (await list(BOUNDS)).body.next_cursor ?? '';
  });

  async function expectRefused(query: Readonly<Record<string, string>>, as = service.production) {
    const { status, body } = await list(query, as);
    expect([query, status, body]).toEqual([query, 400, INVALID_CURSOR]);
  }

  it('are accepted under both names', async () => {
    const { body: next } = await list({ cursor });
    expect(next.data[0]?.target.name).toBe('user-100@example.com');
    expect((await list({ next_cursor: cursor })).body).toEqual(next);
    expect((await list({ cursor, next_cursor: cursor })).body).toEqual(next);
    expect((await list({ ...BOUNDS, cursor: bounded })).body).toEqual(next);
  });

  it('are valid only with the same period, in any notation', async () => {
    const { start, end } = BOUNDS;
    const spelled = { start: '2026-01-01T00:00:00.000Z', end: '2026-01-30T19:00:00-05:00', cursor: bounded };
    expect((await list(spelled)).status).toBe(200);
    await expectRefused({ cursor: bounded });
    await expectRefused({ start, cursor: bounded });
    await expectRefused({ end, cursor: bounded });
    await expectRefused({ ...BOUNDS, cursor });
    await expectRefused({ start, end: '2026-01-31T00:00:00.001Z', cursor: bounded });
    await expectRefused({ start: end, end: start.replace('2026', '2027'), cursor: bounded });
  });

  it('are valid only for the same organization', async () => {
    await expectRefused({ cursor }, otherOrganization.production);
    await expectRefused({ ...BOUNDS, cursor: bounded }, otherOrganization.production);
    const { next_cursor: foreign } = (await list({}, otherOrganization.production)).body;
    await expectRefused({ cursor: foreign ?? '' });
  });

  it('are rejected if they are malformed or altered', async () => {
    for (const altered of alteredCursors(cursor)) await expectRefused({ cursor: altered });
  });
});

describe('Recording an entry', () => {
  function outer<T>(work: () => Promise<T>): Promise<T> {
    return service.app.get(TransactionHost).withTransaction(work);
  }
  const names = async (): Promise<(string | null)[]> => namesOf([(await list()).body]).toReversed();

  it('keeps the chain valid under 40 concurrent writers', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        auditLog().record(auditRecord({ target: { name: `${index}` } })),
      ),
    );
    const { body } = await list();
    expect(new Set(namesOf([body])).size).toBe(40);
    const times = body.data.map(({ datetime }) => datetime);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(await service.app.get(AuditVerification).verify(service.organizationId)).toEqual({
      organizationId: service.organizationId,
      entries: 40,
      flaw: undefined,
    });
  });

  it('is rolled back with its action', async () => {
    await expect(
      outer(async () => {
        await auditLog().record(auditRecord({ target: { name: 'undone' } }));
        throw new Error('The action failed');
      }),
    ).rejects.toThrow('The action failed');
    expect(await names()).toEqual([]);
    await outer(() => auditLog().record(auditRecord({ target: { name: 'done' } })));
    expect(await names()).toEqual(['done']);
    expect((await service.app.get(AuditVerification).verify(service.organizationId)).flaw).toBeUndefined();
  });

  it('is not visible before the action is committed', async () => {
    await outer(async () => {
      await auditLog().record(auditRecord());
      expect(await names()).toEqual([]);
    });
    expect(await names()).toEqual([null]);
  });

  it('commits at once if no transaction is open', async () => {
    await auditLog().record(auditRecord({ target: { name: 'alone' } }));
    expect(await names()).toEqual(['alone']);
  });

  it('never uses a time before the previous entry', async () => {
    await auditLog().record(auditRecord({ target: { name: 'first' } }));
    {
      using _clock = moveClock(service, -HOUR);
      expect(service.app.get(Clock).milliseconds()).toBeLessThan(Date.now() - HOUR / 2);
      await auditLog().record(auditRecord({ target: { name: 'second' } }));
    }
    const [second, first] = (await list()).body.data;
    expect([first?.target.name, second?.target.name]).toEqual(['first', 'second']);
    expect(second?.datetime).toBe(first?.datetime);
  });

  it('records denied attempts', async () => {
    const actor = { ...actorOf(service.organizationId), userId: 'x', role: 'member' } as unknown;
    const denials = service.app.get(AuditRecorder);
    await denials.recordDenial(actor as DashboardActor, 'sso.update', { name: 'an-id' });
    expect((await list()).body.data).toEqual([
      expect.objectContaining({
        event: { action: 'sso.update', outcome: { status: 'denied' } },
        actor: { name: 'Ada Lovelace', email: 'ada@example.com' },
        target: { type: 'sso_configuration', name: 'an-id', environment: 'production' },
      }),
    ]);
  });
});

describe('The query plan of a page', () => {
  interface Plan {
    readonly 'Node Type': string;
    readonly 'Index Name'?: string;
    readonly 'Index Cond'?: string;
    readonly 'Scan Direction'?: string;
    readonly 'Actual Rows': number;
    readonly 'Rows Removed by Filter'?: number;
    readonly 'Rows Removed by Index Recheck'?: number;
    readonly 'Shared Hit Blocks': number;
    readonly 'Shared Read Blocks': number;
    readonly Plans?: readonly Plan[];
  }

  const ENTRIES = 30_000;
  const BOUNDS = { start: '2025-12-01T00:00:00Z', end: '2026-12-31T00:00:00Z' };

  beforeEach(async () => {
    const others = [await addOrganization(service.database), await addOrganization(service.database)];
    // Data for the planner, without hashes. Ten entries share each second, in every organization.
    await service.database.query(
      `INSERT INTO audit_log SELECT organization_id, number, gen_random_uuid(),
              '2026-01-01T00:00:00Z'::timestamptz + (number / 10) * interval '1 second', 'user.add', 'success',
              'Ada', 'ada@example.com', 'user', NULL, 'production', '203.0.113.7', 'Firefox', '\\x00'
         FROM unnest($1::uuid[]) organization_id, generate_series(1, $2) number`,
      [[service.organizationId, ...others], ENTRIES],
    );
    await service.database.query('VACUUM ANALYZE audit_log');
  });

  /** Returns the executed plan of the last page. */
  async function planOf(work: () => Promise<unknown>): Promise<Plan> {
    const source = service.app.get(DataSource);
    const seen: [string, unknown[]][] = [];
    const create = source.createQueryRunner;
    source.createQueryRunner = (...modes) => {
      const runner = Reflect.apply(create, source, modes);
      const { query } = runner;
      runner.query = ((statement: string, parameters: unknown[], structured: boolean) => {
        if (statement.includes('FROM "audit_log"')) seen.push([statement, parameters]);
        return Reflect.apply(query, runner, [statement, parameters, structured]);
      }) as typeof runner.query;
      return runner;
    };
    try {
      await work();
    } finally {
      Reflect.deleteProperty(source, 'createQueryRunner');
    }
    const [statement, values] = seen.at(-1) ?? ['', []];
    const [row] = await service.database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
      values,
    );
    return (row as NonNullable<typeof row>)['QUERY PLAN'][0].Plan;
  }

  async function readPages(pages: number, query: Record<string, string>): Promise<void> {
    let cursor: string | null = null;
    for (let page = 0; page < pages; page += 1) {
      const { body }: TestResponse<Page> = await list({ ...query, ...(cursor === null ? {} : { cursor }) });
      expect(body.data).toHaveLength(PAGE);
      cursor = body.next_cursor;
    }
  }

  it.each<[string, number, Record<string, string>]>([
    ['the first page', 1, {}],
    ['the first page between bounds', 1, BOUNDS],
    ['a deep page', 120, {}],
    ['a deep page between bounds', 120, BOUNDS],
  ])('reads only the index range of %s', async (_what, pages, query) => {
    const plan = await planOf(() => readPages(pages, query));
    expect(plan['Node Type']).toBe('Limit');
    const [scan] = plan.Plans ?? [];
    expect(scan).toMatchObject({
      'Node Type': 'Index Scan',
      'Index Name': 'audit_log_page_index',
      'Scan Direction': 'Backward',
      'Actual Rows': PAGE + 1,
    });
    expect(scan?.['Rows Removed by Filter'] ?? 0).toBe(0);
    expect(scan?.['Rows Removed by Index Recheck'] ?? 0).toBe(0);
    // The index path and the rows of the page. Reading the entries before the page would take hundreds of blocks.
    expect((scan?.['Shared Hit Blocks'] ?? 0) + (scan?.['Shared Read Blocks'] ?? 0)).toBeLessThan(20);
  });
});
