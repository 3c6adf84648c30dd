import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  doneAfterwards,
  isDatabaseUnavailable,
  Notifications,
  type Subscription,
} from '../../../infrastructure/database/index.js';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { LISTENERS_CHANNEL } from '../queue/sql/publish-events.js';
import { EventHorizon, streamUnavailable } from './event-horizon.js';
import { LISTENERS_LOCK, WebhookStreamRepository, type ListenerLimit } from './webhook-stream.repository.js';

/** Milliseconds. Polling finds events whose notification was lost, or that were published just before their listener was stored. */
const POLL_INTERVAL = SECOND;
/** Milliseconds until the next look at transactions that are publishing; doubled each time. */
const LOOK_AGAIN = 10;
/** Milliseconds. */
const CONNECT_TIMEOUT = 5 * SECOND;

/** Something that waits for the events of a client. */
export interface Watcher {
  readonly clientId: string;
  /** Says that there may be new events. @param isPoll whether only time has passed */
  wake(isPoll: boolean): void;
  end(): void;
}

/** Wakes streams and requests that wait for events. Those of a process share one connection for notifications and one look at the horizon. */
@Injectable()
export class EventWatch implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('WebhookStream');
  /** Identifies this process among those that have listeners. */
  private readonly process = randomInt(2 ** 31);
  private readonly watchers = new Set<Watcher>();
  /** Counts new listeners of a client one after the other. */
  private readonly arrivals = new KeyedQueue(1);
  /** IDs of the listeners that this process serves, or is about to, by client. */
  private readonly served = new Map<string, Set<string>>();
  private readonly serving = new Set<Promise<unknown>>();
  /** The clients that have new events, according to notifications. */
  private notified = new Set<string>();
  private wakeUp = new AbortController();
  private isEnding = false;
  private isWatching = false;
  private subscription: Subscription | undefined;
  private connected: Promise<void> | undefined;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly events: WebhookStreamRepository,
    private readonly horizon: EventHorizon,
    private readonly notifications: Notifications,
  ) {}

  get isStopping(): boolean {
    return this.isEnding;
  }

  /** Ends the streams before the HTTP server waits for open connections. */
  beforeApplicationShutdown(): void {
    this.isEnding = true;
    this.endAll();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.serving);
    await this.loop;
    await this.subscription?.close();
  }

  /**
   * Does work while publishers notify this process of the client's events.
   *
   * @throws ApiError the one of the limit, if the client has reached it
   */
  attend<Result>(clientId: string, limit: ListenerLimit, work: () => Promise<Result>): Promise<Result> {
    const id = randomUUID();
    const serving: Promise<Result> = this.whileServed(clientId, id, async (served) => {
      const isAdded = await this.arrivals.run(clientId, () =>
        this.events.addListener({ id, clientId, process: this.process }, served, limit),
      );
      if (!isAdded) throw limit.refusal();
      return work().finally(() => doneAfterwards(() => this.events.deleteListener(id)));
    }).finally(() => this.serving.delete(serving));
    this.serving.add(serving);
    return serving;
  }

  /** Does work while the listener is among those of its client that this process serves, which the work gets. */
  private async whileServed<Result>(
    clientId: string,
    id: string,
    work: (served: ReadonlySet<string>) => Promise<Result>,
  ): Promise<Result> {
    const served = this.served.get(clientId) ?? new Set<string>();
    this.served.set(clientId, served.add(id));
    try {
      return await work(served);
    } finally {
      served.delete(id);
      if (served.size === 0) this.served.delete(clientId);
    }
  }

  /** Wakes the watcher until the work is done. */
  async during<Result>(watcher: Watcher, work: () => Promise<Result>): Promise<Result> {
    this.watchers.add(watcher);
    // Events that are being published now may have found no listener to notify.
    this.notified.add(watcher.clientId);
    this.wakeUp.abort();
    if (!this.isWatching) this.loop = this.watch();
    try {
      return await work();
    } finally {
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) this.wakeUp.abort();
    }
  }

  /** Moves the horizon and wakes the watchers, while there are any. */
  private async watch(): Promise<void> {
    this.isWatching = true;
    try {
      let [polledAt, lookAgain] = [-Infinity, LOOK_AGAIN];
      while (this.watchers.size > 0) {
        // This is reset before the look at the horizon, so that no notification during the look is missed.
        this.wakeUp = new AbortController();
        const isPoll = performance.now() - polledAt >= POLL_INTERVAL;
        if (isPoll) polledAt = performance.now();
        const isWaiting = await this.look(isPoll);
        lookAgain = isWaiting ? Math.min(2 * lookAgain, POLL_INTERVAL) : LOOK_AGAIN;
        await sleep(LOOK_AGAIN);
        await this.pause(isWaiting ? lookAgain : POLL_INTERVAL);
      }
    } catch (error) {
      this.report(error);
      this.endAll();
    } finally {
      this.isWatching = false;
    }
  }

  /** @returns whether the horizon waits for a transaction */
  private async look(isPoll: boolean): Promise<boolean> {
    const { notified } = this;
    this.notified = new Set();
    await this.horizon.advance();
    for (const watcher of this.watchers) {
      const isNotified = notified.has(watcher.clientId);
      if (isPoll || isNotified) watcher.wake(!isNotified);
    }
    const { isWaiting } = this.horizon;
    if (isWaiting) for (const clientId of notified) this.notified.add(clientId);
    return isWaiting;
  }

  private async pause(milliseconds: number): Promise<void> {
    const { signal } = this.wakeUp;
    await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  }

  /** Resolves when this process is shown to the others and receives notifications. */
  async connect(): Promise<void> {
    this.connected ??= new Promise((resolve) => {
      let isConnected = false;
      const onNotification = (clientId?: string): void => {
        // Meanwhile, other processes may have deleted the listeners of this one.
        if (clientId === undefined && isConnected) this.endAll();
        isConnected = true;
        if (clientId !== undefined) this.notified.add(clientId);
        this.wakeUp.abort();
        resolve();
      };
      this.subscription = this.notifications.listen(LISTENERS_CHANNEL, onNotification, [
        LISTENERS_LOCK,
        this.process,
      ]);
    });
    const timeout = sleep(CONNECT_TIMEOUT, 'timeout', { ref: false });
    if ((await Promise.race([this.connected, timeout])) === 'timeout') throw streamUnavailable();
  }

  /** The clients connect again. */
  private endAll(): void {
    for (const watcher of this.watchers) watcher.end();
    this.wakeUp.abort();
  }

  report(error: unknown): void {
    if (isDatabaseUnavailable(error)) this.logger.warn(`Streams ended: ${(error as Error).message}`);
    else this.logger.error('Streams ended', error);
  }
}
