import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Logger } from '@nestjs/common';
import type { HttpClient, OutgoingResult } from '../../../src/infrastructure/http-client/index.js';
import { startConnectProxy, type ConnectProxy } from '../../support/http/connect-proxy.js';
import { startDnsServer, type DnsServer } from '../../support/http/dns-server.js';
import { eventually } from '../../support/eventually.js';
import {
  FORBIDDEN_NAMES,
  forbiddenUrls,
  REBINDING,
  UNANSWERED_NAMES,
  UNRESOLVED_NAMES,
} from '../../support/http/forbidden-urls.js';
import {
  respondWith,
  HOSTILE_RECEIVERS,
  startReceiver,
  type Receiver,
} from '../../support/http/hostile-receivers.js';
import { httpClient } from '../../support/http/http-clients.js';
import { freePort } from '../../support/programs/ports.js';
import { RECEIVER_CERTIFICATES, TEST_AUTHORITY } from '../../support/webhooks/receiver-certificates.js';

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

  it.each([
    ['2001:db8:64::/96', '2001:db8:64::192.0.0.170', '2001:db8:64::'],
    ['fd00:64::/96', 'fd00:64::192.0.0.171', 'fd00:64::'],
    ['2600:1f00::/40', '2600:1f00:c0:0:aa::', '2600:1f00:'],
  ])(
    'the addresses of a translator with the prefix %s are judged by the IPv4 address inside',
    async (name, probe, prefix) => {
      const network = closedLater(await startDnsServer());
      const inNetwork = clientWith({ WEBHOOK_DNS_SERVERS: network.address, ...LOCAL_ONLY });
      network.set('ipv4only.arpa', { aaaa: [probe] });
      const inside = (bytes: readonly number[]): string => {
        const [a = 0, b = 0, c = 0, d = 0] = bytes;
        if (!name.endsWith('/40')) return `${prefix}${bytes.join('.')}`;
        return `${prefix}${[a, (b << 8) | c, d].map((part) => part.toString(16)).join(':')}::`;
      };
      network.set('private.example.com', { aaaa: [inside([10, 0, 0, 1])] });
      network.set('metadata.example.com', { aaaa: [inside([169, 254, 169, 254])] });
      network.set('public.example.com', { aaaa: [inside([93, 184, 215, 14])] });
      for (const host of ['private.example.com', 'metadata.example.com'])
        expect(await post(inNetwork, urlOf(host))).toMatchObject(FORBIDDEN);
      // From the loopback interface, no other machine can be reached.
      expect(await post(inNetwork, urlOf('public.example.com'))).toMatchObject({ failure: 'REFUSED' });
      expect(network.queries.filter((query) => query === 'AAAA ipv4only.arpa')).toHaveLength(1);
    },
  );

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

  // 192.0.2.1 and 2001:db8::1 are never reached; nothing listens on 127.0.0.2, and on ::1 at the port of the listener.
  it.each([
    ['IPv4 refuses', { a: ['127.0.0.2'], aaaa: ['::1'] }, 'v6'],
    [
      'four addresses of IPv4 refuse',
      { a: [2, 3, 4, 5].map((last) => `127.0.0.${last}`), aaaa: ['::1'] },
      'v6',
    ],
    ['IPv4 is silent', { a: ['192.0.2.1'], aaaa: ['::1'] }, 'v6'],
    ['IPv6 refuses', { a: ['127.0.0.1'], aaaa: ['::1'] }, 'v4'],
    ['IPv6 is silent', { a: ['127.0.0.1'], aaaa: ['2001:db8::1'] }, 'v4'],
    ['the first of IPv4 and IPv6 are silent', { a: ['192.0.2.1', '127.0.0.1'], aaaa: ['2001:db8::1'] }, 'v4'],
  ])('%s: the other address gets the request', async (what, records, version) => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_DNS_SERVERS: dns.address });
    const target = closedLater(
      await startReceiver({ ...respondWith('200 OK'), host: version === 'v6' ? '::1' : '127.0.0.1' }),
    );
    const name = `${what.replaceAll(/\W/g, '-').toLowerCase()}.example.com`;
    dns.set(name, records);
    const { statusCode, phases } = await post(client, `http://${name}:${target.port}/`);
    expect(statusCode).toBe(200);
    expect(phases.connect).toBeLessThan(5_000);
    expect(target.connections.total).toBe(1);
  });

  it('a receiver that is reachable by both gets the request by IPv4, and only once', async () => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_DNS_SERVERS: dns.address });
    const target = closedLater(await startReceiver({ ...respondWith('200 OK'), host: '::' }));
    dns.set('both.example.com', { a: ['127.0.0.1'], aaaa: ['::1'] });
    expect(await post(client, `http://both.example.com:${target.port}/`)).toMatchObject({ statusCode: 200 });
    expect(target.requests.map(({ from }) => from)).toEqual(['::ffff:127.0.0.1']);
    expect(target.connections.total).toBe(1);
  });

  it('reports the failure of the address that is tried first', async () => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_DNS_SERVERS: dns.address });
    dns.set('closed.example.com', { a: ['127.0.0.2'], aaaa: ['2001:db8::1'] });
    expect(await post(client, `http://closed.example.com:${await freePort()}/`)).toMatchObject({
      failure: 'REFUSED',
    });
  });
});

describe('WEBHOOK_EXTRA_CA', () => {
  it.each([
    ['several authorities', [RECEIVER_CERTIFICATES.selfSigned, TEST_AUTHORITY].join('\n')],
    ['lines of other systems', TEST_AUTHORITY.replaceAll('\n', '\r\n')],
    ['remarks', `# Issuer: CN=Test\n\n${TEST_AUTHORITY}\n# The end`],
  ])('accepts a file with %s', async (_, authorities) => {
    const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_EXTRA_CA: authorities });
    expect(await post(client, `https://127.0.0.1:${listener.port}/`)).toMatchObject({ statusCode: 200 });
  });
});

describe('WEBHOOK_EGRESS_ADDRESS', () => {
  it.each(['127.0.0.3', '::ffff:127.0.0.3'])(
    'is the address that webhooks are sent from: %s',
    async (address) => {
      const client = clientWith({ WEBHOOK_TARGETS: 'any', WEBHOOK_EGRESS_ADDRESS: address });
      const target = closedLater(await startReceiver(respondWith('200 OK')));
      await post(client, target.url);
      expect(target.requests.map(({ from }) => from)).toEqual(['127.0.0.3']);
    },
  );
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

const OPENED_NONE = ['REFUSED', 'The service could not open a connection.', 'ours'] as const;
const UNREACHED = [
  'REFUSED',
  'No connection could be established: the host name could not be resolved, or the host refused the connection or cannot be reached.',
  'unknown',
] as const;
const NOT_PUBLIC = [
  'FORBIDDEN_ADDRESS',
  'The host name resolves to an address that is not public.',
  'theirs',
] as const;
const NO_NAME = ['DNS', 'The host name could not be resolved.', 'theirs'] as const;
const LATE = ['TIMEOUT', 'No connection could be established in time.', 'unknown'] as const;
/** How proxies reject a tunnel to each host, and how that is reported. */
const REJECTIONS: Readonly<Record<string, readonly [reply: string, ...reported: readonly string[]]>> = {
  'forbidden.example.com': ['403', ...NOT_PUBLIC],
  'legal.example.com': ['451', ...NOT_PUBLIC],
  'smokescreen.example.com': ['407\nX-Smokescreen-Error: Egress proxying is denied to host', ...NOT_PUBLIC],
  'unchallenged.example.com': ['407', ...NOT_PUBLIC],
  'credentials.example.com': ['407\nProxy-Authenticate: Basic realm="proxy"', ...OPENED_NONE],
  'gateway.example.com': ['502', ...UNREACHED],
  'squid.example.com': ['503\nX-Squid-Error: ERR_CONNECT_FAIL 111', ...UNREACHED],
  'name.example.com': ['503\nX-Squid-Error: ERR_DNS_FAIL 0', ...NO_NAME],
  'smokescreen-name.example.com': [
    '502\nX-Smokescreen-Error: Failed to resolve remote hostname: no such host',
    ...NO_NAME,
  ],
  'status.example.com': ['502\nProxy-Status: proxy; error=dns_error', ...NO_NAME],
  'late.example.com': ['504', ...LATE],
  'limited.example.com': ['429', ...OPENED_NONE],
  'broken.example.com': ['500', ...OPENED_NONE],
  'redirect.example.com': ['302\nLocation: http://portal/', ...OPENED_NONE],
};

describe('OUTBOUND_PROXY_URL', () => {
  const PROXIED = 'https://hooks.example.com';
  let proxy: ConnectProxy;
  beforeAll(async () => {
    proxy = closedLater(
      await startConnectProxy((authority) => REJECTIONS[authority.split(':')[0] ?? '']?.[0]),
    );
  });

  const through = ({ url }: ConnectProxy, credentials = ''): HttpClient =>
    clientWith({
      OUTBOUND_PROXY_URL: url.replace('//', `//${credentials}`),
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

  it.each(Object.entries(REJECTIONS))(
    '%s: the rejection of the proxy is reported to the owner of the receiver',
    async (name, [, failure, explanation, fault]) => {
      const result = await post(through(proxy), `https://${name}/`);
      expect(result).toMatchObject({ statusCode: 0, failure, explanation, fault });
    },
  );

  it('that rejects the credentials is logged', async () => {
    loggedErrors.length = 0;
    const client = through(proxy);
    await post(client, 'https://credentials.example.com/');
    await post(client, 'https://credentials.example.com/');
    expect(loggedErrors).toEqual([
      "The proxy in OUTBOUND_PROXY_URL responded to CONNECT with 407. Check the proxy's credentials and rules.",
    ]);
  });

  it('that is unavailable is logged', async () => {
    loggedErrors.length = 0;
    const client = clientWith({ OUTBOUND_PROXY_URL: `http://127.0.0.1:${await freePort()}` });
    expect(await post(client, PROXIED)).toMatchObject({
      statusCode: 0,
      failure: 'REFUSED',
      explanation: 'The service could not open a connection.',
      fault: 'ours',
    });
    expect(loggedErrors).toEqual(['The proxy in OUTBOUND_PROXY_URL is unreachable.']);
  });

  it('that never responds fails the request after ten seconds', async () => {
    const stalled = closedLater(await startReceiver({ onConnection: () => undefined }));
    const client = clientWith({ OUTBOUND_PROXY_URL: `http://127.0.0.1:${stalled.port}` });
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
