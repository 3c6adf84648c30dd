import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { RECEIVER_CERTIFICATES, RECEIVER_KEY } from './receiver-certificates.js';

const PLACES = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];
const DIRECTORY = PLACES.find((place) => existsSync(join(place, 'redis-server')));
const MISSING = `There is no redis-server in ${PLACES.join(', ')}: install it (on Debian: apt-get install redis-server).`;
/** Milliseconds: servers are killed and come back here, and the machine may be busy. */
const TIMEOUT = 60_000;

/** Skipped where there is no Redis, which is a failure where everything counts. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (DIRECTORY === undefined && process.env.CI !== 'true') {
    describe.skip(`${name} (${MISSING})`, () => it('needs a Redis', () => undefined));
    return;
  }
  describe(name, () => {
    // In native modules Jest is found here alone.
    import.meta.jest.setTimeout(TIMEOUT);
    afterEach(() => RedisServer.endAll());
    tests();
  });
}

export interface RedisServerOptions {
  /** Where it was before, to come back. */
  readonly port?: number;
  readonly password?: string;
  /** With the certificate of receivers. */
  readonly tls?: boolean;
  readonly isNode?: boolean;
}

/** A Redis of its own, on this machine alone, which keeps nothing. */
export class RedisServer {
  private static readonly running = new Set<RedisServer>();

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    private readonly options: RedisServerOptions,
  ) {
    RedisServer.running.add(this);
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    if (DIRECTORY === undefined) throw new Error(MISSING);
    const port = options.port ?? (await freePort());
    const directory = mkdtempSync(join(process.env.TEST_RUN_DIRECTORY ?? tmpdir(), 'redis-'));
    const { password, tls, isNode } = options;
    const settings = [
      ['--bind', '127.0.0.1'],
      ['--dir', directory],
      ['--save', ''],
      ['--appendonly', 'no'],
      ['--daemonize', 'no'],
      ...(tls ? tlsSettings(directory, port) : [['--port', String(port)]]),
      ...(password === undefined ? [] : [['--requirepass', password]]),
      ...(isNode
        ? [
            ['--cluster-enabled', 'yes'],
            ['--cluster-port', String(await freePort())],
            ['--cluster-node-timeout', '2000'],
          ]
        : []),
    ];
    const child = spawn(join(DIRECTORY, 'redis-server'), settings.flat(), { stdio: 'ignore' });
    const server = new RedisServer(child, port, options);
    await eventually('Redis answers', () => server.ask('PING') === 'PONG');
    return server;
  }

  /** A Redis Cluster whose slots are divided among three nodes; each may have a replica. */
  static async startCluster({ replicas = 0 } = {}): Promise<RedisServer[]> {
    const count = 3 * (1 + replicas);
    const nodes = await Promise.all(Array.from({ length: count }, () => RedisServer.start({ isNode: true })));
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    command(['--cluster', 'create', ...addresses, '--cluster-replicas', String(replicas), '--cluster-yes']);
    await eventually('all nodes know the cluster', () =>
      nodes.every((node) => node.ask('CLUSTER', 'INFO').includes('cluster_state:ok')),
    );
    const primaries = (): number => nodes.filter((node) => node.isPrimary).length;
    await eventually('the others are replicas', () => primaries() === 3);
    return nodes;
  }

  /** For `afterEach`: nothing that was started here outlives its test. */
  static async endAll(): Promise<void> {
    await Promise.all([...RedisServer.running].map((server) => server.kill()));
  }

  get url(): string {
    const { password, tls } = this.options;
    return `${tls ? 'rediss' : 'redis'}://${password ? `:${password}@` : ''}127.0.0.1:${this.port}`;
  }

  /** Whether it counts, rather than repeat what another one counts. */
  get isPrimary(): boolean {
    return this.ask('ROLE').startsWith('master');
  }

  /** What `redis-cli` says to the command. */
  ask(...words: string[]): string {
    const { password, tls } = this.options;
    return command([
      '-h',
      '127.0.0.1',
      '-p',
      String(this.port),
      ...(password ? ['-a', password, '--no-auth-warning'] : []),
      ...(tls ? ['--tls', '--insecure'] : []),
      ...words,
    ]);
  }

  /** What has been counted under keys that end so, over all limits. */
  counts(): number[] {
    const keys = this.ask('--scan', '--pattern', 'merchant-connectivity:*:*').split('\n').filter(Boolean);
    return keys.map((key) => Number(this.ask('GET', key)));
  }

  /** It goes on to accept connections, and answers nothing. */
  hang(): void {
    this.child.kill('SIGSTOP');
  }

  goOn(): void {
    this.child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    RedisServer.running.delete(this);
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  /** Another one in its place, which knows nothing of it. */
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

function command(words: readonly string[]): string {
  return spawnSync(join(DIRECTORY ?? '', 'redis-cli'), words, {
    encoding: 'utf8',
    timeout: 20_000,
  }).stdout.trim();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
