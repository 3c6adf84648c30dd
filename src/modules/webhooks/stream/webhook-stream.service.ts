import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Request, Response } from 'express';
import { CredentialsCheck, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import {
  isDatabaseUnavailable,
  Notifications,
  type Subscription,
} from '../../../infrastructure/database/index.js';
import { INVALID_FIELD, TOO_MANY_REQUESTS } from '../../../infrastructure/errors/index.js';
import { requestContext } from '../../../infrastructure/http/index.js';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { LISTENERS_CHANNEL } from '../queue/sql/publish-events.js';
import { EventSigner } from '../signing/event-signer.js';
import { EventHorizon, RETRY_AFTER, streamUnavailable } from './event-horizon.js';
import { LISTENERS_LOCK, WebhookStreamRepository, type StreamedEvent } from './webhook-stream.repository.js';
import { Listener, type ListenerSource } from './listener.js';
import { MAX_LISTENERS, TOO_MANY_LISTENERS, UNKNOWN_EVENT } from './webhook-stream.dto.js';

/** Milliseconds. Polling finds events whose notification was lost, or that were published just before their listener was stored. */
const POLL_INTERVAL = SECOND;
/** Milliseconds until the next look at transactions that are publishing; doubled each time. */
const LOOK_AGAIN = 10;
/** Milliseconds. */
const CONNECT_TIMEOUT = 5 * SECOND;
const EVENTS_PER_QUERY = 20;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Otherwise nginx collects the response before it passes it on.
  'X-Accel-Buffering': 'no',
};
/** The `id` of the first message of a stream, which names a position that no event may have. */
const START = /^start-(\d{1,15})$/;

const LISTENERS = new GaugeMetric({
  name: 'mcs_webhook_listeners',
  help: 'Streams of webhooks that this process serves.',
});

/** Serves streams of webhooks. Those of a process share one connection for notifications and one look at the horizon. */
@Injectable()
export class WebhookStreamService implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('WebhookStream');
  /** Identifies this process among those that have listeners. */
  private readonly process = randomInt(2 ** 31);
  private readonly listeners = new Set<Listener>();
  private readonly serving = new Set<Promise<void>>();
  /** The clients that have new events, according to notifications. */
  private notified = new Set<string>();
  private wakeUp = new AbortController();
  private isStopping = false;
  private isWatching = false;
  private subscription: Subscription | undefined;
  private connected: Promise<void> | undefined;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly events: WebhookStreamRepository,
    private readonly horizon: EventHorizon,
    private readonly signer: EventSigner,
    private readonly credentials: CredentialsCheck,
    private readonly notifications: Notifications,
    metrics: Metrics,
  ) {
    metrics.gauge(LISTENERS, () => [{ labels: {}, value: this.listeners.size }]);
  }

  /** Ends the streams before the HTTP server waits for open connections. */
  beforeApplicationShutdown(): void {
    this.isStopping = true;
    this.endAll();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.serving);
    await this.loop;
    await this.subscription?.close();
  }

  /** Sends events until the stream ends. */
  async open({ clientId }: AuthenticatedClient, request: Request, response: Response): Promise<void> {
    await this.connect();
    const lastEventId = request.headers['last-event-id'];
    const resumed =
      lastEventId === undefined ? undefined : await this.positionOf(clientId, String(lastEventId));
    const id = randomUUID();
    if (!(await this.events.addListener(id, clientId, this.process, MAX_LISTENERS))) {
      throw TOO_MANY_REQUESTS.error(TOO_MANY_LISTENERS, { retryAfter: RETRY_AFTER });
    }
    const serving = this.serve(clientId, resumed, request, response).finally(async () => {
      // If this fails, the row is deleted when the process has ended and another listener of the client comes.
      await this.events.deleteListener(id).catch(() => undefined);
      this.serving.delete(serving);
    });
    this.serving.add(serving);
    await serving;
  }

  private async serve(
    clientId: string,
    resumed: number | undefined,
    request: Request,
    response: Response,
  ): Promise<void> {
    const position = resumed ?? (await this.horizon.reach());
    if (this.isStopping) throw streamUnavailable();
    response.set(HEADERS);
    await requestContext(request).recordNow();
    if (request.method === 'HEAD') response.end();
    else await this.run(new Listener(clientId, position, response, this.sourceOf(clientId, request)));
  }

  private async run(listener: Listener): Promise<void> {
    this.listeners.add(listener);
    if (!this.isWatching) this.loop = this.watch();
    try {
      await listener.run();
    } catch (error) {
      this.report(error);
    } finally {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.wakeUp.abort();
    }
  }

  private async positionOf(clientId: string, lastEventId: string): Promise<number> {
    const start = START.exec(lastEventId)?.[1];
    const position =
      start ?? (isUUID(lastEventId, 'loose') && (await this.events.positionOf(clientId, lastEventId)));
    if (!position) throw INVALID_FIELD.error(UNKNOWN_EVENT);
    return Number(position);
  }

  private sourceOf(clientId: string, request: Request): ListenerSource {
    return {
      horizon: () => this.horizon.current,
      between: (after, last) => this.events.between(clientId, after, last, EVENTS_PER_QUERY),
      messageOf: (event) => this.messageOf(clientId, event),
      isAuthenticated: () => this.credentials.areAccepted(request),
    };
  }

  private async messageOf(clientId: string, { event, secretVersions }: StreamedEvent): Promise<string> {
    const headers = await this.signer.headersOf({ client: { clientId }, event, secretVersions });
    return `id: ${event.id}\ndata: ${JSON.stringify({ headers, body: event.body.toString('base64') })}\n\n`;
  }

  /** Moves the horizon and wakes the listeners, while there are any. */
  private async watch(): Promise<void> {
    this.isWatching = true;
    try {
      let [polledAt, lookAgain] = [-Infinity, LOOK_AGAIN];
      while (this.listeners.size > 0) {
        // Before the look at the horizon, so that no notification during the look is missed.
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
    for (const listener of this.listeners) if (isPoll || notified.has(listener.clientId)) listener.wake();
    const { isWaiting } = this.horizon;
    if (isWaiting) for (const clientId of notified) this.notified.add(clientId);
    return isWaiting;
  }

  private async pause(milliseconds: number): Promise<void> {
    const { signal } = this.wakeUp;
    await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  }

  /** Resolves when this process is shown to the others and receives notifications. */
  private async connect(): Promise<void> {
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
    for (const listener of this.listeners) listener.end();
    this.wakeUp.abort();
  }

  private report(error: unknown): void {
    if (isDatabaseUnavailable(error)) this.logger.warn(`Streams ended: ${(error as Error).message}`);
    else this.logger.error('Streams ended', error);
  }
}
