import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { AuditLog, type AuditLogEntry } from '../../src/modules/audit-logs/index.js';
import { AuditStreamsJob } from '../../src/modules/audit-streams/audit-streams.job.js';
import { moveClock } from '../support/clock.js';
import { auditOf } from '../support/dashboard-users.js';
import { startDnsServer, type DnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/program.js';
import { newKeys, startTestApp, type TestApp } from '../support/test-app.js';
import { seenOn, visitorWithRole, type Visitor } from '../support/visitor.js';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const PATH = '/dashboard/audit-stream';
const HEADER = 'Bearer of-the-receiver-1f6a9c';
const HOUR = 3_600_000;
/** Each needs the start of a process. TEST_STREAM_KILLS=10 takes a minute more. */
const KILLS = Number(process.env.TEST_STREAM_KILLS ?? 4);

type Entry = Omit<AuditLogEntry, 'sequence' | 'hash' | 'datetime'> & {
  readonly sequence: number;
  readonly hash: string;
  readonly datetime: string;
};
interface Batch {
  readonly organization_id: string;
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly previous_hash: string;
  readonly entries: Entry[];
}

let service: TestApp;
let receiver: WebhookReceiver;
let dns: DnsServer;
let visitor: Visitor;
let environment: Record<string, string>;

beforeAll(async () => {
  [receiver, dns] = await Promise.all([startReceiver(), startDnsServer()]);
  environment = {
    WEBHOOK_TARGETS: 'any',
    WEBHOOK_DNS_SERVERS: dns.address,
    ...newKeys(),
  };
  service = await startTestApp(environment);
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
  await Promise.all([receiver.close(), dns.close()]);
});
beforeEach(async () => {
  receiver.arrivals.length = 0;
  receiver.response = 200;
  await service.database.query('DELETE FROM audit_stream');
  visitor = await visitorWithRole(service);
});

const configure = (fields: Record<string, string> = {}) =>
  visitor.fill(PATH, {
    url: `${receiver.url}/logs`,
    format: 'json',
    authorization: HEADER,
    ...fields,
  });
const record = async (count: number, text = 'ä "quoted"'): Promise<void> => {
  const origin = { ip: '203.0.113.7', userAgent: 'Firefox' };
  const actor = { organizationId: service.organizationId, name: 'Ada', email: 'ada@example.com', origin };
  for (let index = 0; index < count; index += 1) {
    const changes = index % 2 === 0 ? [{ field: 'role', from: null, to: text }] : [];
    await service.app.get(AuditLog).record({ action: 'user.update', actor, changes });
  }
};
const stream = async () =>
  (
    await service.database.query<{ position: string; problem: string | null; paused_at: Date | null }>(
      'SELECT position, problem, paused_at FROM audit_stream',
    )
  )[0];
const head = async () =>
  (
    await service.database.query<{ sequence: string; hash: Buffer }>(
      'SELECT sequence, hash FROM audit_chain WHERE organization_id = $1',
      [service.organizationId],
    )
  )[0];
const isComplete = async (): Promise<boolean> => {
  await service.app.get(AuditStreamsJob).run();
  return (await stream())?.position === (await head())?.sequence;
};
const batches = (): Batch[] => receiver.arrivals.map(({ event }) => event as unknown as Batch);

/** Recomputes the chain from what arrived, as docs/audit-streams.md says. @returns the last hash */
function verified(organizationId: string, entries: readonly Entry[], start = Buffer.alloc(32)): string {
  let last = start;
  for (const [index, entry] of entries.entries()) {
    expect(entry.sequence).toBe((entries[0]?.sequence ?? 0) + index);
    const { event, actor, target, context, changes } = entry;
    const values = [
      organizationId,
      String(entry.sequence),
      entry.id,
      entry.datetime,
      event.action,
      event.outcome.status,
      actor.name,
      actor.email,
      target.type,
      target.name,
      target.environment,
      context.ip,
      context.user_agent,
    ];
    const content =
      changes === null
        ? [1, ...values]
        : [2, ...values, changes.map(({ field, from, to }) => [field, from, to])];
    last = createHash('sha256').update(last).update(JSON.stringify(content)).digest();
    expect(last.toString('hex')).toBe(entry.hash);
  }
  return last.toString('hex');
}

/** Returns what arrived, in order, without repetitions, which must be identical. */
function received(): Entry[] {
  const entries = new Map<number, Entry>();
  for (const entry of batches().flatMap((batch) => batch.entries)) {
    if (entries.has(entry.sequence)) expect(entry).toEqual(entries.get(entry.sequence));
    entries.set(entry.sequence, entry);
  }
  return [...entries.values()].toSorted((one, other) => one.sequence - other.sequence);
}

describe('The pages about the audit stream', () => {
  it('let owners add, change and remove the stream, and admins see it', async () => {
    expect((await visitor.get(PATH)).text).toContain('not sent anywhere');
    expect((await configure({ url: 'ftp://logs.example.com' })).text).toContain('must be a public https URL');
    expect((await configure({ authorization: 'line\u00e9' })).text).toContain('printable ASCII');
    const saved = await configure();
    expect([saved.status, saved.location]).toEqual([303, `${PATH}?done=saved`]);
    const page = await visitor.get(PATH);
    expect(page.text).toContain(`${receiver.url}/logs`);
    expect(page.text).not.toContain(HEADER);

    const admin = await visitorWithRole(service, 'admin');
    expect((await admin.get(PATH)).status).toBe(200);
    expect((await admin.submit(PATH)).status).toBe(403);
    const member = await visitorWithRole(service, 'member');
    expect((await member.get(PATH)).status).toBe(403);

    const seen = seenOn(page.text);
    await configure({ format: 'otlp' });
    const late = await visitor.submit(PATH, { url: `${receiver.url}/late`, format: 'json', seen });
    expect(late.text).toContain('This was changed after you opened the form.');

    expect((await visitor.submit(`${PATH}/remove`)).location).toBe(`${PATH}?done=removed`);
    expect(await stream()).toBeUndefined();
    const { login } = visitor as Visitor & { login: { email: string } };
    expect((await auditOf(service, login)).slice(-3)).toEqual([
      'audit_stream.update success',
      'audit_stream.update success',
      'audit_stream.remove success',
    ]);
  });

  it('keep the header while the host stays the same, and forget it with another host', async () => {
    const sealed = async () =>
      (await service.database.query<{ authorization_sealed: Buffer | null }>('SELECT * FROM audit_stream'))[0]
        ?.authorization_sealed;
    await configure();
    expect((await sealed())?.includes(HEADER)).toBe(false);
    await configure({ url: `${receiver.url}/other`, authorization: '' });
    expect(await sealed()).not.toBeNull();
    await configure({ url: receiver.url.replace('127.0.0.1', 'localhost'), authorization: '' });
    expect(await sealed()).toBeNull();
  });
});

describe('The audit stream', () => {
  it('sends every entry in the order of the chain, with hashes that the receiver can verify', async () => {
    await record(3);
    await configure();
    await eventually('all entries are confirmed', isComplete);
    await record(2);
    await eventually('the new entries are confirmed', isComplete);
    const [first, second] = batches();
    expect(first?.previous_hash).toBe('0'.repeat(64));
    expect(second?.previous_hash).toBe(first?.entries.at(-1)?.hash);
    expect([second?.first_sequence, second?.entries.length]).toEqual([(first?.last_sequence ?? 0) + 1, 2]);
    expect(receiver.arrivals[0]?.headers.authorization).toBe(HEADER);
    expect(verified(service.organizationId, received())).toBe((await head())?.hash.toString('hex'));
  });

  it('sends long entries in several requests, which proxies accept', async () => {
    await record(16, 'x'.repeat(100_000));
    await configure();
    await eventually('all entries are confirmed', isComplete);
    expect(receiver.arrivals.length).toBeGreaterThan(1);
    expect(Math.max(...receiver.arrivals.map(({ body }) => body.length))).toBeLessThan(1_000_000);
    expect(verified(service.organizationId, received())).toBe((await head())?.hash.toString('hex'));
  });

  it('sends logs of OpenTelemetry', async () => {
    await record(2);
    await configure({ format: 'otlp' });
    await eventually('all entries are confirmed', isComplete);
    const records = receiver.arrivals.flatMap(({ event }) => {
      const { resourceLogs } = event as unknown as {
        resourceLogs: {
          scopeLogs: { logRecords: { eventName: string; body: { stringValue: string } }[] }[];
        }[];
      };
      return resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
    });
    expect(records.at(-2)).toMatchObject({
      eventName: 'user.update',
      severityNumber: 9,
      timeUnixNano: expect.stringMatching(/^\d{19}$/),
      attributes: expect.arrayContaining([
        { key: 'audit.sequence', value: { stringValue: expect.stringMatching(/^\d+$/) } },
        { key: 'user.email', value: { stringValue: 'ada@example.com' } },
      ]),
    });
    const entries = records.map(({ body }) => JSON.parse(body.stringValue) as Entry);
    expect(verified(service.organizationId, entries)).toBe((await head())?.hash.toString('hex'));
  });

  it('sends nothing of other organizations', async () => {
    await service.anotherOrganization();
    await configure();
    await eventually('all entries are confirmed', isComplete);
    expect(new Set(batches().map((batch) => batch.organization_id))).toEqual(
      new Set([service.organizationId]),
    );
  });

  it('repeats what fails, is paused after a day with a message, and continues without a gap', async () => {
    receiver.response = 503;
    await configure();
    await service.app.get(AuditStreamsJob).run();
    await eventually('the failure is stored', async () => (await stream())?.problem !== null);
    expect((await visitor.get(PATH)).text).toContain('responded with status 503');
    {
      using _ = moveClock(service, HOUR);
      await service.app.get(AuditStreamsJob).run();
      await receiver.arrived(2);
      await eventually('the second failure is stored', async () => {
        const rows = await service.database.query('SELECT FROM audit_stream WHERE due_at < $1', [
          new Date(Date.now() + 2 * HOUR),
        ]);
        return rows.length === 1;
      });
      expect((await stream())?.paused_at).toBeNull();
    }
    using _ = moveClock(service, 25 * HOUR);
    await service.app.get(AuditStreamsJob).run();
    await eventually('the stream is paused', async () => (await stream())?.paused_at !== null);
    await service.app.get(AuditStreamsJob).run();
    expect(receiver.arrivals).toHaveLength(3);
    // The session is too old by now.
    visitor = await visitorWithRole(service);
    expect((await visitor.get(PATH)).text).toContain('The stream is paused');

    receiver.response = 200;
    await record(2);
    expect((await configure({ authorization: '' })).location).toBe(`${PATH}?done=saved`);
    await eventually('all entries are confirmed', isComplete);
    expect(verified(service.organizationId, received())).toBe((await head())?.hash.toString('hex'));
  });

  it('waits longer and longer, but is not paused, if DNS servers fail', async () => {
    dns.set('logs.example.com', { errorCode: 2 });
    await configure({ url: 'http://logs.example.com/logs' });
    for (const [hours, seconds] of [
      [0, 1],
      [1, 590],
      [25, 590],
    ] as const) {
      using _ = moveClock(service, hours * HOUR);
      await service.database.query('UPDATE audit_stream SET problem = NULL');
      await service.app.get(AuditStreamsJob).run();
      await eventually('the failure is stored', async () => (await stream())?.problem !== null);
      const after = new Date(Date.now() + hours * HOUR + seconds * 1_000);
      expect(
        await service.database.query('SELECT FROM audit_stream WHERE due_at > $1', [after]),
      ).toHaveLength(1);
    }
    expect((await stream())?.paused_at).toBeNull();
  });

  it(`loses no entry when workers are killed ${KILLS} times`, async () => {
    await configure();
    const held: ServerResponse[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await record(3);
      // Killed before the response, or when it has been sent and is perhaps stored.
      receiver.response = (response) =>
        kill % 2 === 0 ? held.push(response) : response.writeHead(200).end();
      const count = receiver.arrivals.length;
      const worker = new Program('worker.js', {
        environment: { ...environment, DATABASE_URL: service.database.url, DATA_DIR: service.dataDirectory },
      });
      await receiver.arrived(count + 1);
      worker.signal('SIGKILL');
      await worker.ended;
      for (const response of held.splice(0)) response.destroy();
      // The lease of the killed process ends.
      await service.database.query('UPDATE audit_stream SET due_at = now()');
    }
    receiver.response = 200;
    await record(1);
    await eventually('all entries are confirmed', isComplete);
    expect(receiver.arrivals.length).toBeGreaterThan(KILLS);
    expect(verified(service.organizationId, received())).toBe((await head())?.hash.toString('hex'));
  });
});
