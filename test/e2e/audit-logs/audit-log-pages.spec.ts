import { CursorCodec } from '../../../src/infrastructure/crypto/index.js';
import { AuditLogRepository } from '../../../src/modules/audit-logs/audit-log.repository.js';
import { AuditVerification } from '../../../src/modules/audit-logs/index.js';
import {
  addOrganization,
  fillAuditLog,
  type AuditRow,
  type AuditRowChange,
} from '../../support/logs/audit-entries.js';
import { useTestApp } from '../../support/test-app.js';
import { Visitor, linkTo } from '../../support/pages/visitor.js';

const PATH = '/dashboard/audit-log';
const MAX_PAGE_SIZE = 60_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0';

const service = useTestApp();

interface Organization {
  readonly id: string;
  readonly visitor: Visitor;
  readonly entries: readonly AuditRow[];
}

/** Creates an organization with an audit log, whose entries are a second apart, and logs in an admin. */
async function organizationWith(changes: readonly AuditRowChange[]): Promise<Organization> {
  const id = await addOrganization(service.database);
  const entries = changes.length === 0 ? [] : await fillAuditLog(service.database, id, changes);
  return { id, entries, visitor: await loggedIn('admin', id) };
}

async function loggedIn(role: 'admin' | 'member' | 'viewer', organizationId: string): Promise<Visitor> {
  const { cookie } = await service.login(role, organizationId);
  const visitor = new Visitor(service);
  visitor.cookies.set('session', cookie.replace('session=', ''));
  return visitor;
}

/** Adds entries of one user to an empty log with a single statement. Their hashes are not valid. */
async function fillQuickly(organizationId: string, count: number): Promise<void> {
  await service.database.query(
    `WITH entries AS (
       INSERT INTO audit_log (organization_id, sequence, id, created_at, action, outcome, actor_name, actor_email,
                              target_type, target_name, target_environment, context_ip, context_user_agent, hash)
       SELECT $1, number, gen_random_uuid(), '2026-01-01T00:00:00Z'::timestamptz + number * interval '1 second',
              CASE WHEN number <= 2 THEN 'user.remove' ELSE 'user.add' END, 'success', 'Ada Lovelace',
              'ada@example.com', 'user', 'user-' || number || '@example.com', 'production', '203.0.113.7',
              'Firefox', '\\x00'
         FROM generate_series(1, $2) number)
     INSERT INTO audit_chain (organization_id, sequence, created_at, hash) VALUES ($1, $2, now(), '\\x00')`,
    [organizationId, count],
  );
}

const SEVERAL: readonly AuditRowChange[] = [
  { targetName: 'bob@example.com', contextUserAgent: FIREFOX },
  {
    action: 'user.remove',
    outcome: 'denied',
    actorName: 'Bob',
    actorEmail: 'bob@example.com',
    targetName: null,
  },
  { action: 'auth.login', outcome: 'failure', targetName: 'ada@example.com' },
  {
    action: 'webhook.update',
    actorName: 'operator',
    actorEmail: 'operator',
    targetType: 'webhook_endpoint',
    targetName: 'https://hooks.example.com/',
    contextIp: '',
    contextUserAgent: 'command line',
  },
];

/** Returns the words of the cells of each row. */
const rowsOf = (html: string): string[][] =>
  [...html.matchAll(/<tr id="entry-.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<td.*?<\/td>/gs)].map(([cell]) =>
      cell
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ),
  );

describe('The list of the audit log', () => {
  it('shows entries in columns, newest first', async () => {
    const { visitor, entries } = await organizationWith(SEVERAL);
    const { status, text } = await visitor.get(PATH);
    expect(status).toBe(200);
    expect(rowsOf(text)).toEqual([
      [
        '00:00:03',
        'An operator of the platform',
        'changed a webhook endpoint in production',
        'https://hooks.example.com/',
        'command line',
      ],
      ['00:00:02', 'Ada Lovelace', 'failed to log in', '', '203.0.113.7'],
      ['00:00:01', 'Bob', 'was not allowed to remove a user', '', '203.0.113.7'],
      ['00:00:00', 'Ada Lovelace', 'added a user', 'bob@example.com', '203.0.113.7'],
    ]);
    expect(text.match(/class="tinted"/g)).toHaveLength(1);
    expect(linkTo('Bob', text)).toBe(`${PATH}?actor=bob%40example.com`);
    expect(linkTo('bob@example.com', text)).toMatch(/\/search\?q=bob%40example\.com$/);

    const entry = await visitor.get(`${PATH}/entries/${entries[0]?.id}`);
    expect(entry.text).toContain('2026-01-01 00:00:00.000 UTC');
    expect(entry.text).toContain(FIREFOX);
    expect(linkTo('All entries of this user', entry.text)).toBe(`${PATH}?actor=ada%40example.com`);
    expect(linkTo('All entries about this target', entry.text)).toBe(`${PATH}?target=bob%40example.com`);
  });

  it.each([
    ['actor=BOB', ['was not allowed']],
    ['actor=ada@', ['failed', 'added']],
    ['action=user.add', ['added']],
    ['outcome=denied', ['was not allowed']],
    ['target=HOOKS.', ['changed']],
    // Not the login of this user.
    ['target=@example.com', ['added']],
    ['start=2026-01-01T00:00:02&end=2026-01-01T00:00:02Z', ['failed']],
  ])('filters by %s, also in an export', async (query, expected) => {
    const { visitor } = await organizationWith(SEVERAL);
    const { text } = await visitor.get(`${PATH}?${query}`);
    const found = [...text.matchAll(/entries\/[^>]+>([^<]+)<\/a>/g)].map(([, sentence = '']) => sentence);
    expect(found).toHaveLength(expected.length);
    expected.forEach((beginning, index) => expect(found[index]).toContain(beginning));
    const exported = await visitor.get(linkTo('Export as NDJSON', text));
    expect(exported.text.trim().split('\n')).toHaveLength(expected.length);
  });

  it('counts entries in bars that lead to them', async () => {
    const { visitor } = await organizationWith(SEVERAL);
    const { text } = await visitor.get(`${PATH}?start=2026-01-01T00:00&end=2026-01-01T01:00`);
    expect(text).toContain('<title>2026-01-01 00:00: 4 entries, 2 failed</title>');
    const [, bar = ''] = /<a href="([^"]+)" tabindex="-1"/.exec(text) ?? [];
    const { text: entries } = await visitor.get(bar.replaceAll('&amp;', '&'));
    expect(rowsOf(entries)).toHaveLength(4);
  });

  it('offers the actions in alphabetical groups', async () => {
    const { visitor } = await organizationWith(SEVERAL);
    const { text } = await visitor.get(`${PATH}?action=key.create`);
    const groups = [...text.matchAll(/<optgroup label="([^"]+)">/g)].map(([, group]) => group);
    expect(groups).toEqual(groups.toSorted((a = '', b = '') => a.localeCompare(b)));
    expect(groups).toContain('Webhook endpoints');
    expect(text).toMatch(
      /<optgroup label="API keys">(?:<option value="key\.\w+">[\w ]+<\/option>)*<option value="key\.create" selected>/,
    );
  });

  it('shows an action that only a later release knows', async () => {
    const { visitor } = await organizationWith([{ ...SEVERAL[0], action: 'user.clone' as never }]);
    const { status, text } = await visitor.get(PATH);
    expect([status, rowsOf(text)[0]?.slice(1, 3)]).toEqual([200, ['Ada Lovelace', 'did user.clone']]);
  });

  it('explains filters that are not valid', async () => {
    const { visitor } = await organizationWith(SEVERAL);
    const { status, text } = await visitor.get(`${PATH}?outcome=good&actor=ada`);
    expect(status).toBe(400);
    expect(text).toContain('The selected “Outcome” is invalid. Choose one from the list.');
    expect(text).toContain('value="ada"');
    expect((await visitor.get(`${PATH}?actor=nobody`)).text).toContain('No entries match these filters');
  });

  it('pages through all entries, below 60 KB for each page', async () => {
    const { id, visitor } = await organizationWith([]);
    expect((await visitor.get(PATH)).text).toContain('Nothing is recorded yet');
    await fillQuickly(id, 120);
    let path = `${PATH}?actor=ada`;
    const found: (string | undefined)[] = [];
    while (path) {
      const { text, size } = await visitor.get(path);
      expect(size).toBeLessThan(MAX_PAGE_SIZE);
      found.push(...[...text.matchAll(/user-(\d+)@/g)].map(([, number]) => number));
      path = linkTo('Next page', text);
    }
    expect(found).toEqual(Array.from({ length: 120 }, (_, index) => String(120 - index)));
  });

  it('leads back to each page before, with the filters', async () => {
    const { id, visitor } = await organizationWith([]);
    await fillQuickly(id, 120);
    const newestOn = ({ text }: { readonly text: string }) => /user-(\d+)@/.exec(text)?.[1];
    const first = await visitor.get(`${PATH}?actor=ada`);
    expect(first.text).not.toContain('Previous page');
    const second = await visitor.get(linkTo('Next page', first.text));
    const third = await visitor.get(linkTo('Next page', second.text));
    expect([first, second, third].map(newestOn)).toEqual(['120', '70', '20']);
    const path = linkTo('Previous page', third.text);
    expect(path).toContain('actor=ada');
    const secondAgain = await visitor.get(path);
    expect(newestOn(secondAgain)).toBe('70');
    expect(linkTo('Previous page', secondAgain.text)).toBe(`${PATH}?actor=ada`);
    expect(linkTo('Next page', secondAgain.text)).toBe(linkTo('Next page', second.text));
    // The address remembers as many pages as fit in 1,000 characters.
    const pages = Array.from({ length: 30 }, (_, index) => `${index}`.padStart(79, 'c'));
    const trail = pages.join('.');
    const { searchParams } = new URL(linkTo('Next page', second.text), 'http://localhost');
    const cursor =
      new URL(linkTo('Next page', first.text), 'http://localhost').searchParams.get('cursor') ?? '';
    const deep = await visitor.get(`${PATH}?actor=ada&cursor=${cursor}&trail=${trail}`);
    const next = new URL(linkTo('Next page', deep.text), 'http://localhost').searchParams;
    expect(next.get('cursor')).toBe(searchParams.get('cursor'));
    expect(next.get('trail')?.length).toBeLessThanOrEqual(1_000);
    expect(next.get('trail')?.split('.')).toEqual([...pages.slice(-11), cursor]);
  });

  it('leads on from a page of release 0.4.0, which has no filter by target', async () => {
    const { id, visitor } = await organizationWith([]);
    await fillQuickly(id, 3);
    const time = Date.parse('2026-01-01T00:00:03Z');
    const scope = ['audit_logs', id, undefined, undefined, 'search', 'ada', undefined, undefined];
    const cursor = service.app.get(CursorCodec).encode([time, '3'], scope);
    const { status, text } = await visitor.get(`${PATH}?actor=ada&cursor=${cursor}`);
    expect([status, text.match(/user-\d+(?=@)/g)]).toEqual([
      200,
      expect.arrayContaining(['user-2', 'user-1']),
    ]);
  });

  it('searches 10,000 entries at a time and leads on to older ones', async () => {
    const { id, visitor } = await organizationWith([]);
    await fillQuickly(id, 20_500);
    const first = await visitor.get(`${PATH}?action=user.remove`);
    expect(first.text).toContain('No matching entries so far');
    const second = await visitor.get(linkTo('Next page', first.text));
    expect(second.text).toContain('No matching entries so far');
    const third = await visitor.get(linkTo('Next page', second.text));
    expect(rowsOf(third.text).map(([, , action, target]) => `${action} ${target}`)).toContain(
      'removed a user user-1@example.com',
    );
    expect(third.text).toContain('This is the last page.');
    // A start ends the search.
    expect((await visitor.get(`${PATH}?action=user.remove&start=2026-01-01T05:00`)).text).toContain(
      'No entries match these filters',
    );
  });

  it('is only for admins, and only about their organization', async () => {
    const { id, entries } = await organizationWith(SEVERAL);
    for (const role of ['member', 'viewer'] as const) {
      const visitor = await loggedIn(role, id);
      for (const path of ['', '/verify', '/export/csv', `/entries/${entries[0]?.id}`])
        expect((await visitor.get(`${PATH}${path}`)).status).toBe(403);
      expect((await visitor.get('/dashboard/production/request-logs')).text).not.toContain(`href="${PATH}"`);
    }
    const { visitor } = await organizationWith([]);
    expect((await visitor.get(PATH)).text).toContain('Nothing is recorded yet');
    expect((await visitor.get(`${PATH}/entries/${entries[0]?.id}`)).status).toBe(404);
    expect((await visitor.get(`${PATH}/entries/nothing`)).status).toBe(404);
  });
});

describe('The export of the audit log', () => {
  it('contains all entries, oldest first, without formulas', async () => {
    const { visitor } = await organizationWith([{ actorName: '=1+1' }, ...SEVERAL]);
    const { headers, text } = await visitor.get(`${PATH}/export/csv`);
    expect(headers.get('content-disposition')).toBe('attachment; filename="bare-audit-log.csv"');
    const lines = text.trim().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/^id,datetime,event\.action,/);
    expect(lines[1]).toContain(",'=1+1,");
    expect((await visitor.get(`${PATH}/export/xls`)).text).toContain('Allowed values: csv, ndjson.');
  });

  it('is recorded in the audit log, unless another site requests it', async () => {
    const { id, visitor } = await organizationWith([]);
    const exports = async (): Promise<unknown> =>
      service.database.query(
        `SELECT action, outcome FROM audit_log WHERE organization_id = $1 AND action = 'audit_log.export'`,
        [id],
      );
    await visitor.get(`${PATH}/export/xls`);
    expect(await exports()).toEqual([]);
    await visitor.get(`${PATH}/export/csv`);
    const entry = { action: 'audit_log.export', outcome: 'success' };
    expect(await exports()).toEqual([entry]);
    const foreign = new Visitor(service, undefined, { 'sec-fetch-site': 'cross-site' });
    for (const [name, value] of visitor.cookies) foreign.cookies.set(name, value);
    expect((await foreign.get(`${PATH}/export/csv`)).status).toBe(403);
    expect(await exports()).toEqual([entry]);
  });
});

describe('The verification of the audit log', () => {
  const PART = 10_000;

  it('confirms an intact chain, a part at a time', async () => {
    const { visitor } = await organizationWith(SEVERAL);
    expect((await visitor.get(`${PATH}/verify`)).text).toContain(
      'All 4 entries are unchanged, and none is missing.',
    );
    expect((await visitor.get(`${PATH}/verify?up_to=1`)).text).toContain('Entry 1 is unchanged.');
    const older = await visitor.get(`${PATH}/verify?up_to=2`);
    expect(older.text).toContain('number 1 to 2, are unchanged, and none is missing');
    expect(linkTo('Verify the newest entries', older.text)).toBe(`${PATH}/verify`);
    const { visitor: other } = await organizationWith([]);
    expect((await other.get(`${PATH}/verify`)).text).toContain('The audit log has no entries yet.');
  });

  it('shows the head, which a copy that is kept elsewhere must agree with', async () => {
    const { id, visitor } = await organizationWith(SEVERAL.slice(0, 1));
    const { sequence, hash } = await service.app.get(AuditVerification, { strict: false }).head(id);
    const { text } = await visitor.get(`${PATH}/verify`);
    expect(text).toContain('The only entry is unchanged.');
    expect(text).toContain(`Number ${sequence}`);
    expect(text).toContain(hash);
  });

  it('runs once at a time per organization, however often it is requested', async () => {
    const { visitor } = await organizationWith(SEVERAL);
    const repository = service.app.get(AuditLogRepository, { strict: false });
    let [runs, running, most] = [0, 0, 0];
    const original = repository.inOrderOfChain.bind(repository);
    repository.inOrderOfChain = async function* (...values) {
      runs += 1;
      running += 1;
      most = Math.max(most, running);
      try {
        yield* original(...values);
      } finally {
        running -= 1;
      }
    };
    const requests = Array.from({ length: 40 }, (_, index) =>
      visitor.get(`${PATH}/verify${index < 30 ? '' : `?up_to=${1 + (index % 3)}`}`),
    );
    const pages = await Promise.all(requests);
    Reflect.deleteProperty(repository, 'inOrderOfChain');
    for (const { status, text } of pages)
      expect([status, text]).toEqual([200, expect.stringContaining('unchanged')]);
    expect(most).toBe(1);
    expect(runs).toBeLessThan(40);
  });

  it('names an entry that was changed or removed', async () => {
    const { id, visitor } = await organizationWith(SEVERAL);
    await tamper(`UPDATE audit_log SET actor_name = 'Eve' WHERE organization_id = '${id}' AND sequence = 2`);
    expect((await visitor.get(`${PATH}/verify`)).text).toContain('Entry 2 does not match its hash.');
    await tamper(`DELETE FROM audit_log WHERE organization_id = '${id}' AND sequence = 4`);
    expect((await visitor.get(`${PATH}/verify?up_to=1`)).text).toContain(
      'This part of the audit log is intact',
    );
    await tamper(`UPDATE audit_log SET actor_name = 'Bob' WHERE organization_id = '${id}' AND sequence = 2`);
    expect((await visitor.get(`${PATH}/verify`)).text).toContain('later entries were removed');
    await tamper(`DELETE FROM audit_log WHERE organization_id = '${id}' AND sequence = 2`);
    expect((await visitor.get(`${PATH}/verify?up_to=2`)).text).toContain('Entry 2 is missing.');
  });

  it('verifies a long chain 10,000 entries at a time', async () => {
    const { id, visitor } = await organizationWith([]);
    await fillQuickly(id, PART + 50);
    const { text } = await visitor.get(`${PATH}/verify`);
    // The hashes are not valid, so the first verified entry is named.
    expect(text).toContain('Entry 51 does not match its hash.');
    expect(text).toContain('verifies 10,000 entries at a time');
    expect(linkTo('Verify the entries before', text)).toBe(`${PATH}/verify?up_to=50`);
  });

  /** Changes the log as a superuser can. */
  async function tamper(statement: string): Promise<void> {
    await service.database.query(`BEGIN; SET LOCAL session_replication_role = replica; ${statement}; COMMIT`);
  }
});
