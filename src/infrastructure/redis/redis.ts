import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { SECOND } from '../time/index.js';
import { RedisConnection, type RedisScript } from './redis-connection.js';
import { RedisConfiguration } from './redis.configuration.js';

/** Milliseconds between attempts to connect, each twice the one before. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 5 * SECOND;
/** Milliseconds after which a connection has proved itself. One that ends before must not be replaced too eagerly. */
const STEADY_AFTER = 10 * SECOND;

const STATES = ['connected', 'lost', 'unconfigured'] as const;
const STATE = new GaugeMetric({
  name: 'mcs_redis_state',
  help: '1 of the state that the connection to Redis is in, 0 of the others. Limits are exact over processes while it is `connected`.',
  labels: ['state'],
});

/** There is no connection right now. */
class RedisAway extends Error {}

/**
 * What processes share in Redis; for a process that serves requests, and only where `REDIS_URL` is set. Nobody
 * ever waits for it: it answers at once, or the caller has to do without.
 */
@Injectable()
export class Redis implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Redis');
  private readonly stopped = new AbortController();
  private connection: RedisConnection | undefined;
  private running: Promise<void> | undefined;
  private isMissed = false;

  constructor(
    private readonly configuration: RedisConfiguration,
    private readonly adapterHost: HttpAdapterHost,
    metrics: Metrics,
  ) {
    metrics.gauge(STATE, () =>
      STATES.map((state) => ({ labels: { state }, value: Number(state === this.state) })),
    );
  }

  /** Whether there should be one. */
  get isConfigured(): boolean {
    return this.configuration.urls !== undefined;
  }

  /** Whether there is one right now. */
  get isConnected(): boolean {
    return this.connection?.isUsable ?? false;
  }

  private get state(): (typeof STATES)[number] {
    if (!this.isConfigured) return 'unconfigured';
    return this.isConnected ? 'connected' : 'lost';
  }

  /** The first attempt is waited for, one second at most, so that the first requests find a connection. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.isConfigured || !this.adapterHost.httpAdapter) return;
    await new Promise<void>((tried) => {
      this.running = this.stayConnected(tried);
    });
  }

  /** After the HTTP server was closed. */
  async onApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    this.connection?.close();
    await this.running;
  }

  /**
   * Runs the script, on keys that are in one slot.
   *
   * @throws at once while there is no connection, and within 250 ms when it is lost
   */
  async run(script: RedisScript, values: readonly string[]): Promise<unknown> {
    if (!this.connection?.isUsable) throw new RedisAway('Redis is away');
    return this.connection.run(script, values);
  }

  private async stayConnected(tried: () => void): Promise<void> {
    let attempt = 0;
    while (!this.stopped.signal.aborted) {
      const began = performance.now();
      const reason = await this.connectUntilLost(tried);
      tried();
      if (!this.stopped.signal.aborted) this.tellLost(reason);
      attempt = performance.now() - began > STEADY_AFTER ? 0 : attempt + 1;
      await pause(pauseAfter(attempt), undefined, { signal: this.stopped.signal }).catch(() => undefined);
    }
  }

  /** @returns why there is no connection, or no longer */
  private async connectUntilLost(connected: () => void): Promise<Error> {
    try {
      this.connection = await RedisConnection.open(this.configuration);
      if (this.stopped.signal.aborted) this.connection.close();
      else this.tellBack();
      connected();
      return await this.connection.lost;
    } catch (error) {
      return error as Error;
    }
  }

  private tellLost(reason: Error): void {
    if (this.isMissed) return;
    this.isMissed = true;
    this.logger.warn(
      `Redis at ${this.place} is away (${inWords(reason)}): each process counts for itself until it is back`,
    );
  }

  private tellBack(): void {
    if (!this.isMissed) return;
    this.isMissed = false;
    this.logger.log(`Redis at ${this.place} is back: processes count together again`);
  }

  private get place(): string {
    return this.configuration.addresses.map(({ host, port }) => `${host}:${port}`).join(', ');
  }
}

/** With jitter, so that many processes do not come back all at once. */
function pauseAfter(attempt: number): number {
  return Math.min(MIN_PAUSE * 2 ** attempt, MAX_PAUSE) * (0.5 + Math.random() / 2);
}

function inWords(reason: Error & { readonly code?: string }): string {
  if (reason.message.startsWith('MOVED ')) {
    return 'it is a Redis Cluster: name several of its addresses in REDIS_URL, separated by commas';
  }
  return reason.code ?? reason.message;
}
