import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Logger } from '@nestjs/common';
import type { HttpClient, OutgoingResult } from '../../src/infrastructure/http-client/index.js';
import { startConnectProxy, type ConnectProxy } from '../support/connect-proxy.js';
import { startDnsServer, type DnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import {
  FORBIDDEN_NAMES,
  forbiddenUrls,
  REBINDING,
  UNANSWERED_NAMES,
  UNRESOLVED_NAMES,
} from '../support/forbidden-urls.js';
import {
  respondWith,
  HOSTILE_RECEIVERS,
  startReceiver,
  type Receiver,
} from '../support/hostile-receivers.js';
import { httpClient } from '../support/http-clients.js';
import { freePort } from '../support/ports.js';

const FORBIDDEN = { statusCode: 0, failure: 'FORBIDDEN_ADDRESS', retryAfterSeconds: null };
const UNRESOLVED = {
  statusCode: 0,
  failure: 'DNS',
  explanation: 'The host name could not be resolved.',
  fault: 'theirs',
};
const UNANSWERED = {
  ...UNRESOLVED,
  explanation: 'The host name could not be resolved: the DNS servers failed, or did not respond.',
  fault: 'unknown',
};
/** A socket that is bound to the loopback interface cannot reach other machines. */
const LOCAL_ONLY = { WEBHOOK_EGRESS_ADDRESS: '127.0.0.1' };

let dns: DnsServer;
let listener: Receiver;
const loggedErrors: unknown[] = [];
const opened: { close(): Promise<void> }[] = [];

function closedLater<T extends { close(): Promise<void> }>(started: T): T {
  opened.push(started);
  return started;
}

const clientWith = (environment: Record<string, string>): HttpClient => closedLater(httpClient(environment));
const post = (client: HttpClient, url: string): Promise<OutgoingResult> =>
  client.post({ url, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') });

beforeAll(async () => {
  Logger.overrideLogger({ log() {}, warn() {}, error: (message: unknown) => loggedErrors.push(message) });
  dns = closedLater(await startDnsServer());
  listener = closedLater(await startReceiver({ certificate: 'trusted', ...respondWith('200 OK') }));
});
afterAll(async () => {
  await Promise.all(opened.toReversed().map((each) => each.close()));
});

const urlOf = (name: string): string => `https://${name}:${listener.port}/hook`;

describe('With WEBHOOK_TARGETS=public', () => {
  let client: HttpClient;
  beforeAll(() => {
    client = clientWith({ WEBHOOK_DNS_SERVERS: dns.address, ...LOCAL_ONLY });
  });

  it('no spelling of a forbidden URL causes a connection or a DNS query', async () => {
    const urls = forbiddenUrls(listener.port);
    expect(urls.length).toBeGreaterThan(80);
    const before = dns.queries.length;
    const results = await Promise.all(urls.map(([url]) => post(client, url)));
    for (const [index, result] of results.entries()) {
      expect({ url: urls[index]?.[0], ...result }).toMatchObject({
        ...FORBIDDEN,
        explanation: 'The URL is not a public https URL.',
      });
    }
    expect(dns.queries).toHaveLength(before);
    expect(listener.connections.total).toBe(0);
  });

  it.each(Object.keys(FORBIDDEN_NAMES))('%s is rejected without a connection', async (name) => {
    dns.set(name, FORBIDDEN_NAMES[name] ?? {});
    const result = await post(client, urlOf(name));
    expect(result).toMatchObject({
      ...FORBIDDEN,
      explanation: 'The host name resolves to an address that is not public.',
    });
    expect(result.phases).toMatchObject({ connect: null, tls: null, firstByte: null });
    expect(listener.connections.total).toBe(0);
  });

  it('a host name is resolved exactly once for each connection', async () => {
    dns.set('rebinding.example.com', ...REBINDING);
    const queries = (): number => dns.queries.filter((each) => each === 'A rebinding.example.com').length;
    // The public address is tried, but unreachable from the loopback interface.
    expect(await post(client, urlOf('rebinding.example.com'))).toMatchObject({ failure: 'REFUSED' });
    expect(queries()).toBe(1);
    expect(await post(client, urlOf('rebinding.example.com'))).toMatchObject(FORBIDDEN);
    expect(queries()).toBe(2);
    expect(listener.connections.total).toBe(0);
  });

  it('a host name with a trailing dot is the same name', async () => {
    dns.set('dotted.example.com', { a: ['127.0.0.1'] });
    expect(await post(client, urlOf('dotted.example.com.'))).toMatchObject(FORBIDDEN);
    expect(dns.queries).toContain('A dotted.example.com');
  });

  it.each(Object.keys(UNRESOLVED_NAMES))('%s is reported as unresolved', async (name) => {
    dns.set(name, UNRESOLVED_NAMES[name] ?? {});
    expect(await post(client, urlOf(name))).toMatchObject(UNRESOLVED);
  });

  it.each(Object.keys(UNANSWERED_NAMES))(
    '%s is reported as a failure of DNS servers before the deadline of a request',
    async (name) => {
      dns.set(name, UNANSWERED_NAMES[name] ?? {});
      expect(await post(client, urlOf(name))).toMatchObject(UNANSWERED);
    },
  );

  it('a DNS server that does not respond for IPv6 does not prevent the check of IPv4 addresses', async () => {
    dns.set('half-silent.example.com', { a: ['10.0.0.1'], silentFor: ['AAAA'] });
    expect(await post(client, urlOf('half-silent.example.com'))).toMatchObject(FORBIDDEN);
  });

  it('an unavailable DNS server is reported as DNS', async () => {
    const unresolving = clientWith({ WEBHOOK_DNS_SERVERS: `127.0.0.1:${await freePort()}` });
    expect(await post(unresolving, 'https://example.com/')).toMatchObject(UNANSWERED);
  });
});

describe('With WEBHOOK_TARGETS=any', () => {
  it('the same names reach the listener', async () => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_DNS_SERVERS: dns.address });
    const before = listener.connections.total;
    for (const name of ['alias.example.com', 'a-private-aaaa-public.example.com', 'dotted.example.com.']) {
      expect(await post(client, urlOf(name))).toMatchObject({ statusCode: 200 });
    }
    expect(await post(client, `https://127.0.0.1:${listener.port}/`)).toMatchObject({ statusCode: 200 });
    expect(await post(client, `https://2130706433:${listener.port}/`)).toMatchObject({ statusCode: 200 });
    expect(listener.connections.total).toBe(before + 4);
  });

  it('a host name that the system does not know is reported as unresolved', async () => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any' });
    // The system rejects labels of more than 63 characters without a DNS query.
    expect(await post(client, urlOf(`${'a'.repeat(64)}.example.com`))).toMatchObject(UNRESOLVED);
  });

  it.each<[string, Record<string, string>]>([
    ['without WEBHOOK_EGRESS_ADDRESS', {}],
    ['with WEBHOOK_EGRESS_ADDRESS', { WEBHOOK_EGRESS_ADDRESS: '127.0.0.1' }],
  ])('a dead address among several does not fail the request (%s)', async (_, environment) => {
    const client = clientWith({
      WEBHOOK_TARGETS: 'any',
      WEBHOOK_DNS_SERVERS: dns.address,
      ...environment,
    });
    // Nothing listens on the second loopback address.
    dns.set('half-dead.example.com', { a: ['127.0.0.2', '127.0.0.1'], aaaa: ['::1'] });
    expect(await post(client, urlOf('half-dead.example.com'))).toMatchObject({ statusCode: 200 });
  });
});

describe('WEBHOOK_EGRESS_ADDRESS', () => {
  it('is the address that webhooks are sent from', async () => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_EGRESS_ADDRESS: '127.0.0.3' });
    const target = closedLater(await startReceiver(respondWith('200 OK')));
    await post(client, target.url);
    expect(target.requests.map(({ from }) => from)).toEqual(['127.0.0.3']);
  });
});

describe('WEBHOOK_EGRESS_ADDRESS of another machine', () => {
  it('fails every webhook and is logged', async () => {
    loggedErrors.length = 0;
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_EGRESS_ADDRESS: '192.0.2.1' });
    const target = closedLater(await startReceiver(respondWith('200 OK')));
    expect(await post(client, target.url)).toMatchObject({ statusCode: 0, failure: 'REFUSED' });
    expect(loggedErrors).toEqual(['WEBHOOK_EGRESS_ADDRESS is not an address of this machine.']);
  });
});

describe('WEBHOOK_PROXY_URL', () => {
  const PROXIED = 'https://hooks.example.com';
  let proxy: ConnectProxy;
  beforeAll(async () => {
    const statuses: Readonly<Record<string, number>> = {
      'forbidden.example.com': 403,
      'unresolved.example.com': 502,
      'late.example.com': 504,
      'strange.example.com': 407,
    };
    proxy = closedLater(await startConnectProxy((authority) => statuses[authority.split(':')[0] ?? '']));
  });

  const through = ({ url }: ConnectProxy, credentials = ''): HttpClient =>
    clientWith({
      WEBHOOK_PROXY_URL: url.replace('//', `//${credentials}`),
      WEBHOOK_DNS_SERVERS: dns.address,
    });

  it('tunnels every webhook without resolving names, with TLS to the receiver', async () => {
    const target = closedLater(await startReceiver({ certificate: 'trusted', ...respondWith('200 OK') }));
    const client = through(proxy, 'us%20er:p%40ss@');
    const before = dns.queries.length;
    const result = await post(client, `${PROXIED}:${target.port}/hook`);
    expect(result).toMatchObject({ statusCode: 200, failure: null, phases: { dns: null } });
    expect(result.phases.connect).not.toBeNull();
    expect(result.phases.tls).not.toBeNull();
    expect(dns.queries).toHaveLength(before);
    expect(proxy.tunnels.at(-1)).toEqual({
      authority: `hooks.example.com:${target.port}`,
      credentials: `Basic ${Buffer.from('us er:p@ss').toString('base64')}`,
    });
    expect(target.requests[0]?.head).not.toMatch(/proxy-authorization/i);
    // The tunnel is reused like any other connection.
    expect(await post(client, `${PROXIED}:${target.port}/hook`)).toMatchObject({ statusCode: 200 });
    expect(target.connections.total).toBe(1);
  });

  it('gets no request for a host that is forbidden by its spelling', async () => {
    const client = through(proxy);
    const before = proxy.tunnels.length;
    const results = await Promise.all(forbiddenUrls(listener.port).map(([url]) => post(client, url)));
    for (const result of results) expect(result).toMatchObject(FORBIDDEN);
    expect(proxy.tunnels).toHaveLength(before);
  });

  it('does not weaken certificate checks', async () => {
    const target = closedLater(await startReceiver(HOSTILE_RECEIVERS.wrongHost));
    expect(await post(through(proxy), `${PROXIED}:${target.port}/`)).toMatchObject({ failure: 'TLS' });
  });

  it.each([
    ['forbidden', 'FORBIDDEN_ADDRESS'],
    ['unresolved', 'REFUSED'],
    ['late', 'TIMEOUT'],
    ['strange', 'REFUSED'],
  ])('%s.example.com: the rejection of the proxy is reported as %s', async (name, failure) => {
    const result = await post(through(proxy), `https://${name}.example.com/`);
    expect(result).toMatchObject({ statusCode: 0, failure });
    expect(result.explanation).not.toMatch(/proxy|127/i);
  });

  it('that rejects the credentials is logged', async () => {
    loggedErrors.length = 0;
    const client = through(proxy);
    await post(client, 'https://strange.example.com/');
    await post(client, 'https://strange.example.com/');
    expect(loggedErrors).toEqual([
      "The proxy in WEBHOOK_PROXY_URL responded to CONNECT with 407. Check the proxy's credentials and rules.",
    ]);
  });

  it('that is unavailable is logged', async () => {
    loggedErrors.length = 0;
    const client = clientWith({ WEBHOOK_PROXY_URL: `http://127.0.0.1:${await freePort()}` });
    expect(await post(client, PROXIED)).toMatchObject({
      statusCode: 0,
      failure: 'REFUSED',
      explanation: 'The service could not open a connection.',
      fault: 'ours',
    });
    expect(loggedErrors).toEqual(['The proxy in WEBHOOK_PROXY_URL is unreachable.']);
  });

  it('that never responds fails the request after ten seconds', async () => {
    const stalled = closedLater(await startReceiver({ onConnection: () => undefined }));
    const client = clientWith({ WEBHOOK_PROXY_URL: `http://127.0.0.1:${stalled.port}` });
    const result = await post(client, PROXIED);
    expect(result).toMatchObject({ failure: 'TIMEOUT' });
    await eventually('the connection is closed', () => stalled.connections.open === 0);
    // Collecting garbage takes CPU time too, but ends.
    await eventually('the process is idle', async () => (await busyMilliseconds(500)) < 200);
  });
});

/** CPU time that this process uses within the given milliseconds. */
async function busyMilliseconds(milliseconds: number): Promise<number> {
  const before = process.cpuUsage();
  await sleep(milliseconds);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Returns the used heap after a garbage collection. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/** Several times as many as the client keeps connections to. */
const RECEIVERS = 1_000;

describe('Many receivers', () => {
  it('do not leak connections or memory', async () => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_DNS_SERVERS: dns.address });
    const target = closedLater(await startReceiver(respondWith('200 OK', 'Keep-Alive: timeout=60')));
    const names = Array.from({ length: RECEIVERS }, (_, index) => `receiver-${index}.example.com`);
    for (const name of names) dns.set(name, { a: ['127.0.0.1'] });
    const before = heapAfterCollection();
    let succeeded = 0;
    const work = names.values();
    const worker = async (): Promise<void> => {
      for (const name of work) {
        const { statusCode } = await post(client, `http://${name}:${target.port}/`);
        if (statusCode === 200) succeeded += 1;
      }
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    expect(succeeded).toBe(RECEIVERS);
    expect(target.connections.maxOpen).toBeLessThanOrEqual(256 + 2 * 32);
    expect((heapAfterCollection() - before) / RECEIVERS / 1024).toBeLessThan(17);
  }, 60_000);
});
