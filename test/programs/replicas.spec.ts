import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from '../../src/infrastructure/redis/index.js';
import { eventually } from '../support/eventually.js';
import { logLines, type LogLine } from '../support/logs/log-lines.js';
import { CREATE_MCP_TOKEN } from '../support/documents/operations.js';
import { TEST_AUTHORITY } from '../support/webhooks/receiver-certificates.js';
import { describeWithRedis, RedisServer } from '../support/programs/redis-server.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { countOf, startTestApp, type TestResponse, type TestApp } from '../support/test-app.js';

const { path: PATH, body: BODY } = CREATE_MCP_TOKEN;
/** Milliseconds that a request may take while Redis becomes unavailable, on a busy machine. */
const BOUND = 20_000;

const KEYS = {
  SECRET_PEPPER: randomBytes(32).toString('base64'),
  KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};
const started: TestApp[] = [];

async function start(environment: Record<string, string>): Promise<TestApp> {
  // Hundreds of concurrent requests wait for database connections, on a busy machine for long.
  const service = await startTestApp({ ...KEYS, DATABASE_CONNECT_TIMEOUT_MS: '60000', ...environment });
  started.push(service);
  return service;
}

/** Starts two instances of the service on one database. */
async function startTwo(environment: Record<string, string>): Promise<[TestApp, TestApp]> {
  const first = await start(environment);
  return [first, await start({ ...environment, DATABASE_URL: first.database.url })];
}

afterEach(async () => {
  for (const service of started.splice(0).toReversed()) await service.close();
});

/** Sends concurrent requests of one client, to the services in turn. */
const sendConcurrently = (services: readonly TestApp[], count: number, as = services[0]!.development) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(services[index % services.length]!, as)));

const send = (service: TestApp, as = service.development): Promise<TestResponse> =>
  service.request(PATH, { body: BODY, as });

const isConnected = (service: TestApp): boolean => service.app.get(Redis).isConnected;

async function timed<T>(work: () => Promise<T>): Promise<[result: T, milliseconds: number]> {
  const began = performance.now();
  return [await work(), performance.now() - began];
}

/** Collects the log lines of a context from now on. */
function collectLog(context: string): () => LogLine[] {
  const before = logLines().length;
  return () =>
    logLines()
      .slice(before)
      .filter((line) => line['context'] === context);
}

const UNAVAILABLE = (reason: string) => ({
  level: 'warn',
  message: expect.stringMatching(
    new RegExp(
      `^Redis at 127\\.0\\.0\\.1:.* is unavailable \\(.*${reason}.*\\): each process counts rate limits`,
    ),
  ),
});
const AVAILABLE = {
  level: 'log',
  message: expect.stringMatching(/^Redis at .* is available again: rate limits are counted across processes/),
};

describeWithRedis('Rate limits of several processes', () => {
  it('are exact, and requests over the limit do not reach Redis', async () => {
    const lines = collectLog('Redis');
    const redis = await RedisServer.start();
    const services = await startTwo({ REDIS_URL: redis.url });
    const responses = await sendConcurrently(services, 650);
    expect([countOf(responses, 200), countOf(responses, 429)]).toEqual([600, 50]);
    // Each request knows how many remain across both processes.
    const remaining = responses
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]));
    expect(remaining.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 600 }, (_, r) => r));
    for (const { status, headers, body } of responses) {
      if (status !== 429) continue;
      expect(headers.get('retry-after')).toBe(String(body['retry_after']));
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }

    const counted = redis.counts();
    expect(counted).toEqual([expect.any(Number)]);
    expect(countOf(await sendConcurrently(services, 100), 429)).toBe(100);
    expect(redis.counts()).toEqual(counted);

    expect((await send(services[1], services[0].production)).status).toBe(200);
    expect(lines()).toEqual([]);
  });

  it('end with their window in all processes', async () => {
    const redis = await RedisServer.start();
    const services = await startTwo({ REDIS_URL: redis.url, MCP_TOKEN_REQUESTS_PER_MINUTE: '5' });
    expect(countOf(await sendConcurrently(services, 20), 200)).toBe(5);
    const keys = redis.command('--scan', '--pattern', 'merchant-connectivity:mcp-tokens:*').split('\n');
    expect(keys).toEqual([`merchant-connectivity:mcp-tokens:${services[0].development.clientId}`]);
    const waits = (await sendConcurrently(services, 4)).map(({ body }) => Number(body['retry_after']));
    const left = Number(redis.command('PTTL', keys[0]!)) / 1000;
    // Refused from memory, with the remaining time that Redis returned.
    for (const wait of waits) expect(Math.abs(wait - left)).toBeLessThanOrEqual(2);
  });

  it('are counted in memory after Redis was killed with requests in flight, and together when it is available again', async () => {
    const lines = collectLog('Redis');
    const redis = await RedisServer.start();
    const [first, second] = await startTwo({ REDIS_URL: redis.url, MCP_TOKEN_REQUESTS_PER_MINUTE: '500' });
    const pair = [first, second];
    expect(pair.map(isConnected)).toEqual([true, true]);

    const [, duration] = await timed(() => sendConcurrently(pair, 400, first.production));
    const [responses, milliseconds] = await timed(async () => {
      const sent = sendConcurrently(pair, 400);
      await pause(50);
      await redis.kill();
      return sent;
    });
    expect(countOf(responses, 200)).toBe(400);
    expect(milliseconds).toBeLessThan(2 * duration + BOUND);
    await eventually('both have logged that Redis is unavailable', () => lines().length >= 2);
    expect(pair.map(isConnected)).toEqual([false, false]);

    // Each process has its own limit now and starts from zero.
    const later = await Promise.all(
      pair.map((service) => sendConcurrently([service], 600, first.development)),
    );
    for (const alone of later) {
      expect(countOf(alone, 200)).toBeLessThanOrEqual(500);
      expect(countOf(alone, 200)).toBeGreaterThanOrEqual(300);
    }
    await pause(500);
    expect(lines()).toEqual([UNAVAILABLE, UNAVAILABLE].map((line) => expect.objectContaining(line('.+'))));

    const again = await redis.replace();
    await eventually('both are connected', () => pair.every(isConnected));
    expect(countOf(await sendConcurrently(pair, 520), 200)).toBe(500);
    expect(again.counts()).toEqual([expect.any(Number)]);
    expect(lines().slice(2)).toEqual([AVAILABLE, AVAILABLE].map((line) => expect.objectContaining(line)));
  });

  it('are counted in memory while Redis hangs, and only the first requests wait for it', async () => {
    const lines = collectLog('Redis');
    const redis = await RedisServer.start();
    const service = await start({ REDIS_URL: redis.url, MCP_TOKEN_REQUESTS_PER_MINUTE: '80' });
    expect((await send(service)).status).toBe(200);

    redis.hang();
    const [first, milliseconds] = await timed(() => sendConcurrently([service], 10));
    expect(countOf(first, 200)).toBe(10);
    expect(milliseconds).toBeGreaterThan(200);
    expect(milliseconds).toBeLessThan(BOUND);
    const afterwards: number[] = [];
    for (let index = 0; index < 60; index += 1) {
      const [{ status }, time] = await timed(() => send(service));
      expect(status).toBe(200);
      afterwards.push(time);
    }
    // Each request would wait for Redis for 250 ms. On a busy machine, some take longer for other reasons.
    expect(Math.min(...afterwards)).toBeLessThan(250);
    expect(countOf(await sendConcurrently([service], 20), 200)).toBe(10);
    // Long enough for several attempts to reconnect.
    await pause(2_500);
    expect(isConnected(service)).toBe(false);
    expect(lines()).toEqual([expect.objectContaining(UNAVAILABLE('no reply within 250 ms'))]);

    redis.resume();
    await eventually('it is connected', () => isConnected(service));
    expect(lines().slice(1)).toEqual([expect.objectContaining(AVAILABLE)]);
    expect((await send(service)).status).toBe(200);
  });

  it('are counted in memory if Redis is down at startup, until it is available', async () => {
    const lines = collectLog('Redis');
    const redis = await RedisServer.start();
    await redis.kill();
    const [service, milliseconds] = await timed(() =>
      start({ REDIS_URL: redis.url, MCP_TOKEN_REQUESTS_PER_MINUTE: '5' }),
    );
    expect(milliseconds).toBeLessThan(5 * BOUND);
    expect(countOf(await sendConcurrently([service], 20), 200)).toBe(5);
    expect(lines()).toEqual([expect.objectContaining(UNAVAILABLE('ECONNREFUSED'))]);
    await redis.replace();
    await eventually('it is connected', () => isConnected(service));
    expect(lines().slice(1)).toEqual([expect.objectContaining(AVAILABLE)]);
  });

  it('are counted in memory if the password is wrong, and the log does not contain the password', async () => {
    const lines = collectLog('Redis');
    const redis = await RedisServer.start({ password: 'p@ss:word/with,marks' });
    rememberSecret('p@ss', 'p%40ss', 'not-the-password');
    const service = await start({
      REDIS_URL: `redis://:not-the-password@127.0.0.1:${redis.port}`,
      MCP_TOKEN_REQUESTS_PER_MINUTE: '5',
    });
    expect(countOf(await sendConcurrently([service], 20), 200)).toBe(5);
    await pause(1_000);
    expect(lines()).toEqual([expect.objectContaining(UNAVAILABLE('WRONGPASS'))]);

    const right = await start({
      REDIS_URL: `redis://default:${encodeURIComponent('p@ss:word/with,marks')}@127.0.0.1:${redis.port}/7`,
    });
    expect(isConnected(right)).toBe(true);
    expect((await send(right)).status).toBe(200);
    expect(redis.command('-n', '7', '--scan', '--pattern', 'merchant-connectivity:mcp-tokens:*')).not.toBe(
      '',
    );
  });

  it('are counted in memory if Redis responds but cannot count', async () => {
    const lines = collectLog('Redis');
    const redis = await RedisServer.start();
    const service = await start({ REDIS_URL: redis.url, MCP_TOKEN_REQUESTS_PER_MINUTE: '5' });
    redis.command('REPLICAOF', '127.0.0.1', '1');
    expect(countOf(await sendConcurrently([service], 20), 200)).toBe(5);
    await pause(1_500);
    expect(isConnected(service)).toBe(false);
    expect(lines()).toEqual([expect.objectContaining(UNAVAILABLE('READONLY'))]);
    redis.command('REPLICAOF', 'NO', 'ONE');
    await eventually('it is connected', () => isConnected(service));
  });

  it('are counted by a proxy that does not know CLIENT', async () => {
    const redis = await RedisServer.start({ without: 'CLIENT' });
    const services = await startTwo({ REDIS_URL: redis.url, MCP_TOKEN_REQUESTS_PER_MINUTE: '5' });
    expect(services.map(isConnected)).toEqual([true, true]);
    expect(countOf(await sendConcurrently(services, 20), 200)).toBe(5);
  });

  it('are counted over TLS only if the certificate is trusted', async () => {
    const lines = collectLog('Redis');
    const redis = await RedisServer.start({ tls: true });
    expect(isConnected(await start({ REDIS_URL: redis.url, REDIS_CA: TEST_AUTHORITY }))).toBe(true);
    expect(lines()).toEqual([]);
    expect(isConnected(await start({ REDIS_URL: redis.url }))).toBe(false);
    expect(lines()).toEqual([expect.objectContaining(UNAVAILABLE('UNABLE_TO_'))]);
  });

  it('are exact in a Redis Cluster, and counted in memory while one of its nodes hangs', async () => {
    const lines = collectLog('Redis');
    const nodes = await RedisServer.startCluster();
    const REDIS_URL = nodes.map(({ url }) => url).join(',');
    const [first, second] = await startTwo({ REDIS_URL });
    const others = await Promise.all([1, 2, 3, 4].map(() => first.anotherOrganization()));
    const responses = await sendConcurrently([first, second], 650);
    expect([countOf(responses, 200), countOf(responses, 429)]).toEqual([600, 50]);
    for (const { development } of others)
      expect(countOf(await sendConcurrently([first, second], 10, development), 200)).toBe(10);
    expect(nodes.flatMap((node) => node.counts()).toSorted()).toEqual([10, 10, 10, 10, expect.any(Number)]);
    expect(lines()).toEqual([]);

    for (const node of nodes) node.keepCounts();
    // A node that the following requests use.
    const hanging = nodes.find((node) => node.counts().includes(10));
    hanging?.hang();
    for (const service of [first, second]) {
      for (const { development } of others) {
        const [{ status }, milliseconds] = await timed(() => send(service, development));
        expect(status).toBe(200);
        expect(milliseconds).toBeLessThan(BOUND);
      }
    }
    await pause(2_500);
    expect(lines()).toEqual(
      [UNAVAILABLE, UNAVAILABLE].map((line) => expect.objectContaining(line('no reply within 250 ms'))),
    );
    hanging?.resume();
    await eventually('both are connected', () => [first, second].every(isConnected));
    expect(countOf(await sendConcurrently([first, second], 10), 429)).toBe(10);
  });

  it('continue when a replica takes over in a Redis Cluster', async () => {
    const nodes = await RedisServer.startCluster({ replicas: 1 });
    const REDIS_URL = nodes.map(({ url }) => url).join(',');
    const pair = await startTwo({ REDIS_URL, MCP_TOKEN_REQUESTS_PER_MINUTE: '100' });
    expect(countOf(await sendConcurrently(pair, 60), 200)).toBe(60);
    const counting = nodes.find((node) => node.isPrimary && node.counts().includes(60));
    // The window outlives the test, however long the takeover lasts.
    const key = `merchant-connectivity:mcp-tokens:${pair[0].development.clientId}`;
    expect(counting?.command('PEXPIRE', key, '3600000')).toBe('1');
    expect(counting?.command('WAIT', '1', '10000')).toBe('1');

    await counting?.kill();
    for (const service of pair) {
      const [{ status }, milliseconds] = await timed(() => send(service, pair[0].development));
      expect(status).toBe(200);
      expect(milliseconds).toBeLessThan(BOUND);
    }
    const others = nodes.filter((node) => node !== counting);
    await eventually('a replica counts', () => others.filter((node) => node.isPrimary).length === 3, 30_000);
    await eventually('both are connected', () => pair.every(isConnected), 30_000);
    const counted = () =>
      Math.max(...others.filter((node) => node.isPrimary).flatMap((node) => node.counts()));
    for (const service of pair) {
      await eventually('it counts with the replica', async () => {
        const before = counted();
        return (await send(service, pair[0].development)).status === 200 && counted() === before + 1;
      });
    }
    // The requests before the takeover still count, and those that each process counted itself are not added.
    const left = 100 - counted();
    expect(left).toBeLessThanOrEqual(38);
    expect(countOf(await sendConcurrently(pair, 60), 200)).toBe(left);
  });

  it('are counted in memory if a Redis Cluster is configured with one address, and the log says how to fix it', async () => {
    const lines = collectLog('Redis');
    const nodes = await RedisServer.startCluster();
    const other = nodes.find((node) =>
      node.command('GET', 'merchant-connectivity:probe').startsWith('MOVED'),
    );
    expect(isConnected(await start({ REDIS_URL: other?.url ?? '' }))).toBe(false);
    expect(lines()).toEqual([
      expect.objectContaining(UNAVAILABLE('it is a Redis Cluster: set REDIS_URL to several')),
    ]);
  });
});
