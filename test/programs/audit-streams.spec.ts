import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { AuditLog, type AuditLogEntry } from '../../src/modules/audit-logs/index.js';
import { AuditStreamEmailsJob } from '../../src/modules/audit-streams/audit-stream-emails.job.js';
import { AuditStreamsJob } from '../../src/modules/audit-streams/audit-streams.job.js';
import { AuditStreamsRepository } from '../../src/modules/audit-streams/audit-streams.repository.js';
import { Commands } from '../support/programs/commands.js';
import { moveClock } from '../support/clock.js';
import { logLines } from '../support/logs/log-lines.js';
import { auditOf } from '../support/pages/dashboard-users.js';
import { startDnsServer, type DnsServer } from '../support/http/dns-server.js';
import { eventually } from '../support/eventually.js';
import { mailsTo, sendEmails } from '../support/messages/mails.js';
import { serveMetrics, type Scraper } from '../support/logs/metrics.js';
import { Program } from '../support/programs/program.js';
import { newKeys, startTestApp, type TestApp } from '../support/test-app.js';
import { seenOn, visitorWithRole, type Visitor } from '../support/pages/visitor.js';
import { startReceiver, type WebhookReceiver } from '../support/webhooks/webhook-receiver.js';

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
let scraper: Scraper | undefined;

beforeAll(async () => {
  [receiver, dns] = await Promise.all([startReceiver(), startDnsServer()]);
  environment = {
    WEBHOOK_TARGETS: 'any',
    METRICS_PORT: '0',
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
/** Sets for how long the receiver has failed. @returns the milliseconds until now */
async function failedFor(hours: number): Promise<number> {
  const [row] = await service.database.query<{ failed_ms: string }>('SELECT failed_ms FROM audit_stream');
  await service.database.query('UPDATE audit_stream SET failed_ms = $1', [hours * HOUR]);
  return Number(row?.failed_ms);
}
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

  it.each([
    ['json', 16, 'x'.repeat(100_000)],
    // Quotation marks are escaped twice.
    ['otlp', 60, '"'.repeat(8_000)],
  ])('sends at most 512 KiB with a request, as %s', async (format, count, text) => {
    await record(count, text);
    await configure({ format });
    await eventually('all entries are confirmed', isComplete);
    expect(receiver.arrivals.length).toBeGreaterThan(1);
    expect(Math.max(...receiver.arrivals.map(({ body }) => body.length))).toBeLessThanOrEqual(512 * 1_024);
  });

  it.each([201, 202, 204, 206])(
    'confirms entries for which the receiver responds with %d',
    async (status) => {
      receiver.response = status;
      await configure();
      await eventually('all entries are confirmed', isComplete);
      expect((await stream())?.problem).toBeNull();
    },
  );

  const respond = (status: number, body: unknown): void => {
    receiver.response = (response) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    };
  };

  it.each<[what: string, format: string, body: string]>([
    ['JSON', 'json', '{"partialSuccess":{"rejectedLogRecords":"2"}}'],
    ['OTLP without content', 'otlp', ''],
    ['OTLP with an empty partialSuccess', 'otlp', '{"partialSuccess":{}}'],
    ['OTLP with text', 'otlp', 'ok'],
    ['OTLP with null', 'otlp', 'null'],
    ['OTLP with other types', 'otlp', '{"partialSuccess":{"rejectedLogRecords":[],"errorMessage":7}}'],
  ])('takes every other body of a success for a success: %s', async (_what, format, body) => {
    respond(200, body);
    await configure({ format });
    await eventually('all entries are confirmed', isComplete);
    expect((await visitor.get(PATH)).text).not.toContain('remove this message');
  });

  const failureIsStored = async (): Promise<boolean> => {
    await service.app.get(AuditStreamsJob).run();
    return (await stream())?.problem !== null;
  };

  it('sends fewer entries after 413, until a request fits', async () => {
    await configure();
    await eventually('all entries are confirmed', isComplete);
    await record(40);
    receiver.arrivals.length = 0;
    const limit = 4_000;
    receiver.response = (response, { body }) => response.writeHead(body.length > limit ? 413 : 200).end();
    await eventually('all entries are confirmed', isComplete, 20_000);
    expect((await stream())?.problem).toBeNull();
    expect(receiver.arrivals.filter(({ body }) => body.length > limit).length).toBeLessThan(16);
    expect((await visitor.get(PATH)).text).toContain('the receiver refused more');
  });

  it.each([400, 413, 422])(
    'names the entry that the receiver refuses with %d, and continues when it is accepted',
    async (status) => {
      await configure();
      await eventually('all entries are confirmed', isComplete);
      await record(7);
      const refused = Number((await head())?.sequence) - 3;
      receiver.response = (response, { event }) => {
        const { entries } = event as unknown as Batch;
        const isRefused = entries.some(({ sequence }) => sequence === refused);
        response
          .writeHead(isRefused ? status : 200, { 'content-type': 'text/plain' })
          .end(isRefused ? 'field "to" is\n not a number' : '');
      };
      await eventually('the failure is stored', failureIsStored, 20_000);
      expect((await stream())?.position).toBe(String(refused - 1));
      const { text } = await visitor.get(PATH);
      expect(text).toContain(`responded with status ${status} to entry ${refused}, which was sent alone (`);
      expect(text).toContain('It says: “field &quot;to&quot; is not a number”.');
      receiver.response = 200;
      await service.database.query('UPDATE audit_stream SET due_at = now()');
      await eventually('all entries are confirmed', isComplete);
      expect(verified(service.organizationId, received())).toBe((await head())?.hash.toString('hex'));
    },
  );

  it('reads 413 of a receiver that does not wait for the end of the request', async () => {
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.end('HTTP/1.1 413 Content Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await record(3, 'x'.repeat(150_000));
      await configure({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logs` });
      await eventually('the failure is stored', failureIsStored, 20_000);
      expect((await stream())?.problem).toContain('responded with status 413 to entry 1');
    } finally {
      server.close();
    }
  });

  it('shows no page of a proxy, and says that redirects are not followed', async () => {
    receiver.response = (response) =>
      response.writeHead(413, { 'content-type': 'text/html' }).end('<html><h1>413 Request Entity Too Large');
    await configure();
    await eventually('the failure is stored', failureIsStored, 20_000);
    expect((await stream())?.problem).toMatch(/^The receiver responded with status 413 to entry 1, [^<]*$/);
    receiver.response = (response) => response.writeHead(301, { location: 'https://other.example' }).end();
    await configure();
    await eventually('the failure is stored', failureIsStored);
    expect((await stream())?.problem).toBe(
      'The receiver responded with status 301. Redirects are not followed.',
    );
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
    await failedFor(24);
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

  it('is not paused by failures of this side, whatever failed before and after them', async () => {
    // Otherwise, the next attempt would not look up the name.
    receiver.response = (response) => response.writeHead(503, { connection: 'close' }).end();
    dns.set('logs.example.com', { a: ['127.0.0.1'] });
    await configure({ url: `http://logs.example.com:${new URL(receiver.url).port}/logs` });
    const failAt = async (hours: number, reason: string): Promise<void> => {
      using _ = moveClock(service, hours * HOUR);
      await service.database.query('UPDATE audit_stream SET problem = NULL');
      await service.app.get(AuditStreamsJob).run();
      await eventually('the failure is stored', async () => (await stream())?.problem?.includes(reason));
    };
    await failAt(0, 'status 503');
    dns.set('logs.example.com', { errorCode: 2 });
    await failAt(1, 'DNS servers failed');
    await failAt(25, 'DNS servers failed');
    dns.set('logs.example.com', { a: ['127.0.0.1'] });
    // Nor by time in which nothing was sent, because the service was down or its clock was set.
    await failAt(26, 'status 503');
    await failAt(72, 'status 503');
    expect((await stream())?.paused_at).toBeNull();
    // Two seconds, and ten minutes twice.
    expect(await failedFor(24)).toBe(1_202_000);
    await failAt(73, 'status 503');
    expect((await stream())?.paused_at).not.toBeNull();
  });

  it('is overdue for as long as the receiver has confirmed nothing, however old its entries are', async () => {
    using _ = moveClock(service, 48 * HOUR);
    visitor = await visitorWithRole(service);
    receiver.response = 503;
    await configure();
    await service.app.get(AuditStreamsJob).run();
    await eventually('the failure is stored', async () => (await stream())?.problem !== null);
    const waitingSince = async () =>
      ((await service.app.get(AuditStreamsRepository).oldestUnsent())?.getTime() ?? 0) - Date.now();
    expect(await waitingSince()).toBeGreaterThan(47 * HOUR);
    await service.database.query(`UPDATE audit_stream SET advanced_at = now()`);
    expect(await waitingSince()).toBeLessThan(HOUR);
  });

  it('shows failures of this side, also those before a request', async () => {
    await configure();
    await service.database.query(`UPDATE audit_stream SET authorization_sealed = '\\x00'`);
    await service.app.get(AuditStreamsJob).run();
    await eventually('the failure is stored', async () => (await stream())?.problem !== null);
    const { text } = await visitor.get(PATH);
    expect(text).toContain('The service could not send the request.');
    expect(text).toContain('The cause may be on the side of this service.');
    expect(text).toContain('Failing since');
  });

  it('tells owners and operators that it fails for an hour, and that it is paused', async () => {
    const { login } = visitor as Visitor & { login: { email: string } };
    const metrics = (scraper ??= await serveMetrics(service));
    const announce = async (hours: number): Promise<string[]> => {
      using _ = moveClock(service, hours * HOUR);
      for (const _run of [1, 2, 3]) {
        await service.app.get(AuditStreamEmailsJob).run();
        await sendEmails(service);
      }
      return (await mailsTo(service, login.email)).map(
        (mail) => /\r\nSubject: (.*)\r\n/.exec(mail)?.[1] ?? '',
      );
    };
    const failAt = async (hours: number): Promise<void> => {
      using _ = moveClock(service, hours * HOUR);
      await service.database.query('UPDATE audit_stream SET problem = NULL');
      await service.app.get(AuditStreamsJob).run();
      await eventually('the failure is stored', async () => (await stream())?.problem !== null);
    };
    receiver.response = 503;
    await configure();
    await failAt(0);
    expect(await announce(0.9)).toEqual([]);
    expect(await announce(1.1)).toEqual(['The audit stream is failing']);
    await failedFor(24);
    await failAt(25);
    expect((await announce(25.1)).toSorted()).toEqual([
      'The audit stream is failing',
      'The audit stream was paused',
    ]);
    const { output } = await new Commands({ ...environment, DATABASE_URL: service.database.url }).run(
      'audit streams',
    );
    expect(JSON.parse(output)).toEqual([
      expect.objectContaining({
        organization_id: service.organizationId,
        state: 'paused',
        problem: 'The receiver responded with status 503.',
        last_confirmed_entry: 0,
      }),
    ]);
    expect(await metrics.value('mcs_audit_streams', { state: 'paused' })).toBe(1);
    expect(await metrics.value('mcs_audit_streams', { state: 'failing' })).toBe(0);
    expect(await metrics.value('mcs_work_overdue_seconds', { work: 'audit_stream_entries' })).toBe(0);
    // It fails again after it was resumed.
    visitor = await visitorWithRole(service);
    await configure({ authorization: '' });
    await failAt(0.1);
    expect(await announce(1.3)).toHaveLength(3);
  });

  it.each<[what: string, partialSuccess: unknown, rejected: number, said: string]>([
    [
      'a number as a text',
      { partialSuccess: { rejectedLogRecords: '2', errorMessage: 'too old' } },
      2,
      'too old',
    ],
    ['a number', { partialSuccess: { rejectedLogRecords: 1 } }, 1, ''],
    ['names in snake case', { partial_success: { rejected_log_records: '1', error_message: 'no' } }, 1, 'no'],
    ['a warning', { partialSuccess: { errorMessage: 'deprecated' } }, 0, 'deprecated'],
    ['a number that is too high', { partialSuccess: { rejectedLogRecords: '999999' } }, 3, ''],
  ])(
    'shows, counts and logs entries that an OTLP receiver rejects: %s',
    async (_what, body, rejected, said) => {
      scraper ??= await serveMetrics(service);
      const counted = () => scraper?.value('mcs_audit_stream_rejected_entries_total');
      await configure({ format: 'otlp' });
      await eventually('all entries are confirmed', isComplete);
      const before = (await counted()) ?? 0;
      await record(3);
      respond(200, body);
      await eventually('all entries are confirmed', isComplete);
      const { text } = await visitor.get(PATH);
      const sequence = Number((await head())?.sequence);
      expect(text).toContain(
        rejected === 0
          ? `The receiver has a warning about entries ${sequence - 2} to ${sequence}.`
          : `The receiver did not store ${rejected} of entries ${sequence - 2} to ${sequence}.`,
      );
      expect(text).toContain(said);
      expect((await counted()) ?? 0).toBe(before + rejected);
      const logged = logLines().findLast(({ message }) => String(message).includes('rejected entries'));
      expect(logged).toMatchObject({ rejected, level: 'warn' });
      // They are not sent again, and the message stays until the stream is saved.
      respond(200, {});
      await record(1);
      await eventually('all entries are confirmed', isComplete);
      expect((await visitor.get(PATH)).text).toContain('To remove this message');
      await configure({ format: 'otlp' });
      expect((await visitor.get(PATH)).text).not.toContain('remove this message');
    },
  );

  it('lets an owner skip the entry that the receiver refuses, and no other one', async () => {
    // Not before the test of the gauge, which reads the streams once in a minute.
    scraper ??= await serveMetrics(service);
    const skipped = async () => (await scraper?.value('mcs_audit_stream_skipped_entries_total')) ?? 0;
    const before = await skipped();
    const skipPage = `${PATH}/skip`;
    await configure();
    await eventually('all entries are confirmed', isComplete);
    expect((await visitor.get(PATH)).text).not.toContain(skipPage);
    await record(7);
    const last = Number((await head())?.sequence);
    const refused = new Set([last - 5, last - 2]);
    const accepted: number[] = [];
    receiver.response = (response, { event }) => {
      const sequences = (event as unknown as Batch).entries.map(({ sequence }) => sequence);
      const isRefused = sequences.some((sequence) => refused.has(sequence));
      if (!isRefused) accepted.push(...sequences);
      response.writeHead(isRefused ? 400 : 200).end();
    };
    await eventually('the first entry is refused', failureIsStored, 20_000);
    expect((await visitor.get(PATH)).text).toContain(`href="${skipPage}"`);
    const admin = await visitorWithRole(service, 'admin');
    expect((await admin.get(PATH)).text).not.toContain(skipPage);
    expect((await admin.submit(skipPage)).status).toBe(403);

    const opened = await visitor.get(skipPage);
    expect(opened.text).toContain(`Skip entry ${last - 5}?`);
    expect(opened.text).toContain('user.update');
    const seen = seenOn(opened.text);
    await service.database.query('UPDATE audit_stream SET paused_at = now()');
    const [, action = ''] = /<form [^>]*action="([^"]*audit-stream[^"]*)"/.exec(opened.text) ?? [];
    expect((await visitor.submit(action, { seen })).location).toBe(`${PATH}?done=skipped`);
    expect(await stream()).toMatchObject({ position: String(last - 5), problem: null, paused_at: null });

    await eventually('the second entry is refused', failureIsStored, 20_000);
    // The form that named the first entry, sent once more, does not skip the second one.
    const late = await visitor.submit(skipPage, { seen });
    expect([late.status, late.text]).toEqual([400, expect.stringContaining('This was changed after you')]);
    expect(await stream()).toMatchObject({ position: String(last - 3) });
    const second = seenOn((await visitor.get(skipPage)).text);
    refused.clear();
    await service.database.query('UPDATE audit_stream SET due_at = now()');
    await eventually('all entries are confirmed', isComplete);
    // Nothing is skipped that the receiver has accepted meanwhile, whatever the form has shown.
    expect((await visitor.submit(skipPage, { seen: second })).status).toBe(400);
    expect((await visitor.submit(skipPage)).status).toBe(400);

    expect(await skipped()).toBe(before + 1);
    expect((await visitor.get(PATH)).text).toMatch(/owners skipped<\/dt><dd[^>]*>1</);
    expect(accepted.filter((sequence) => sequence <= last)).toEqual(
      [6, 4, 3, 2, 1, 0].map((back) => last - back),
    );
    const entry = received().find(
      ({ event }) => event.action === 'audit_stream.skip' && event.outcome.status === 'success',
    );
    expect(entry?.changes).toEqual([
      { field: 'entry', from: null, to: String(last - 5) },
      { field: 'action', from: null, to: 'user.update' },
    ]);
  });

  it('is continued at once by another process when a worker stops while the receiver does not respond', async () => {
    await configure();
    receiver.response = () => undefined;
    const worker = new Program('worker.js', {
      environment: { ...environment, DATABASE_URL: service.database.url, DATA_DIR: service.dataDirectory },
    });
    await receiver.arrived(1);
    const due = () => service.database.query('SELECT FROM audit_stream WHERE due_at <= now()');
    expect(await due()).toEqual([]);
    worker.signal('SIGTERM');
    await worker.ended;
    expect(await due()).toHaveLength(1);
    expect(await stream()).toMatchObject({ problem: null });
    receiver.response = 200;
    await eventually('all entries are confirmed', isComplete);
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
