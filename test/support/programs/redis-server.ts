import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { RECEIVER_CERTIFICATES, RECEIVER_KEY } from '../webhooks/receiver-certificates.js';
import { freePort } from './ports.js';

const DIRECTORIES = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];
const DIRECTORY = DIRECTORIES.find((directory) => existsSync(join(directory, 'redis-server')));
const MISSING = `There is no redis-server in ${DIRECTORIES.join(', ')}: install it (on Debian: apt-get install redis-server).`;
/** Milliseconds. Tests restart servers, which takes long on a busy machine. */
const TIMEOUT = 60_000;
const MAX_ATTEMPTS = 5;

/** Skips the tests where redis-server isn't installed, except in CI. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (DIRECTORY === undefined && process.env.CI !== 'true') {
    describe.skip(`${name} (${MISSING})`, () => it('requires redis-server', () => undefined));
    return;
  }
  describe(name, () => {
    // ES modules have no global `jest`.
    import.meta.jest.setTimeout(TIMEOUT);
    afterEach(() => RedisServer.endAll());
    tests();
  });
}

export interface RedisServerOptions {
  /** The default is a free port. */
  readonly port?: number;
  readonly password?: string;
  /** Uses the certificate of the webhook receivers. */
  readonly tls?: boolean;
  /** Whether the server is a node of a Redis Cluster. */
  readonly isNode?: boolean;
  /** A command that the server does not know. */
  readonly without?: string;
}

/** A local Redis server without persistence. */
export class RedisServer {
  private static readonly running = new Set<RedisServer>();

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    private readonly options: RedisServerOptions,
  ) {
    RedisServer.running.add(this);
  }

  /** Another process may take a free port before Redis does. Redis then ends, and gets another port. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const server = await RedisServer.launch(options);
      await eventually('Redis responds', () => server.hasEnded || server.command('PING') === 'PONG');
      if (!server.hasEnded) return server;
      RedisServer.running.delete(server);
    }
    throw new Error('Redis ended at each start');
  }

  private static async launch(options: RedisServerOptions): Promise<RedisServer> {
    if (DIRECTORY === undefined) throw new Error(MISSING);
    const port = options.port ?? (await freePort());
    const directory = mkdtempSync(join(tmpdir(), 'redis-'));
    const { password, tls, isNode, without } = options;
    const settings = [
      ['--bind', '127.0.0.1'],
      ['--dir', directory],
      ['--save', ''],
      ['--appendonly', 'no'],
      ['--daemonize', 'no'],
      ...(tls ? tlsSettings(directory, port) : [['--port', String(port)]]),
      ...(password === undefined ? [] : [['--requirepass', password]]),
      ...(without === undefined ? [] : [['--rename-command', without, '']]),
      ...(isNode
        ? [
            ['--cluster-enabled', 'yes'],
            ['--cluster-port', String(await freePort())],
            ['--cluster-node-timeout', '2000'],
          ]
        : []),
    ];
    const child = spawn(join(DIRECTORY, 'redis-server'), settings.flat(), { stdio: 'ignore' });
    return new RedisServer(child, port, options);
  }

  private get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Starts a Redis Cluster of three primaries, each with the given number of replicas. */
  static async startCluster({ replicas = 0 } = {}): Promise<RedisServer[]> {
    const count = 3 * (1 + replicas);
    const nodes = await Promise.all(Array.from({ length: count }, () => RedisServer.start({ isNode: true })));
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    redisCli(['--cluster', 'create', ...addresses, '--cluster-replicas', String(replicas), '--cluster-yes']);
    await eventually('all nodes join the cluster', () =>
      nodes.every((node) => node.command('CLUSTER', 'INFO').includes('cluster_state:ok')),
    );
    const primaries = (): number => nodes.filter((node) => node.isPrimary).length;
    await eventually('the other nodes are replicas', () => primaries() === 3);
    return nodes;
  }

  /** Stops all servers, for `afterEach`. */
  static async endAll(): Promise<void> {
    await Promise.all([...RedisServer.running].map((server) => server.kill()));
  }

  get url(): string {
    const { password, tls } = this.options;
    return `${tls ? 'rediss' : 'redis'}://${password ? `:${password}@` : ''}127.0.0.1:${this.port}`;
  }

  get isPrimary(): boolean {
    return this.command('ROLE').startsWith('master');
  }

  /** Runs a command with `redis-cli` and returns its output. */
  command(...words: string[]): string {
    const { password, tls } = this.options;
    return redisCli([
      '-h',
      '127.0.0.1',
      '-p',
      String(this.port),
      ...(password ? ['-a', password, '--no-auth-warning'] : []),
      ...(tls ? ['--tls', '--insecure'] : []),
      ...words,
    ]);
  }

  /** Returns the counts of all limits. */
  counts(): number[] {
    return this.countedKeys().map((key) => Number(this.command('GET', key)));
  }

  /** Keeps all counts for an hour, so that no limit ends while a slow machine waits. */
  keepCounts(): void {
    for (const key of this.countedKeys()) this.command('EXPIRE', key, '3600');
  }

  private countedKeys(): string[] {
    return this.command('--scan', '--pattern', 'merchant-connectivity:*:*').split('\n').filter(Boolean);
  }

  /** Suspends the server: the kernel still accepts connections, but nothing responds. */
  hang(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    RedisServer.running.delete(this);
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  /** Starts another server on the same port, without data. */
  async replace(): Promise<RedisServer> {
    await this.kill();
    return RedisServer.start({ ...this.options, port: this.port });
  }
}

function tlsSettings(directory: string, port: number): string[][] {
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  return [
    ['--port', '0'],
    ['--tls-port', String(port)],
    ['--tls-cert-file', file('certificate.pem', RECEIVER_CERTIFICATES.trusted)],
    ['--tls-key-file', file('key.pem', RECEIVER_KEY)],
    ['--tls-auth-clients', 'no'],
  ];
}

function redisCli(words: readonly string[]): string {
  return spawnSync(join(DIRECTORY ?? '', 'redis-cli'), words, {
    encoding: 'utf8',
    timeout: 20_000,
  }).stdout.trim();
}
