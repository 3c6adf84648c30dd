import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Request, Response } from 'express';
import { CredentialsCheck, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import { INVALID_FIELD, TOO_MANY_REQUESTS } from '../../../infrastructure/errors/index.js';
import { requestContext } from '../../../infrastructure/http/index.js';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { EventSigner } from '../signing/event-signer.js';
import { EventHorizon, RETRY_AFTER, streamUnavailable } from './event-horizon.js';
import { EventWatch } from './event-watch.js';
import {
  WebhookStreamRepository,
  type ListenerLimit,
  type StreamedEvent,
} from './webhook-stream.repository.js';
import { Listener, type ListenerSource } from './listener.js';
import { MAX_LISTENERS, STREAM_SCOPE, TOO_MANY_LISTENERS, UNKNOWN_EVENT } from './webhook-stream.dto.js';

const EVENTS_PER_QUERY = 20;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Otherwise nginx collects the response before it passes it on.
  'X-Accel-Buffering': 'no',
};
/** The `id` of the first message of a stream, which names a position that no event may have. */
const START = /^start-(\d{1,15})$/;

const LIMIT: ListenerLimit = {
  max: MAX_LISTENERS,
  readsFeed: false,
  refusal: () => TOO_MANY_REQUESTS.error(TOO_MANY_LISTENERS, { retryAfter: RETRY_AFTER }),
};

const LISTENERS = new GaugeMetric({
  name: 'mcs_webhook_listeners',
  help: 'Streams of webhooks that this process serves.',
});

/** Serves streams of webhooks. */
@Injectable()
export class WebhookStreamService {
  private readonly listeners = new Set<Listener>();

  constructor(
    private readonly events: WebhookStreamRepository,
    private readonly horizon: EventHorizon,
    private readonly signer: EventSigner,
    private readonly credentials: CredentialsCheck,
    private readonly watch: EventWatch,
    metrics: Metrics,
  ) {
    metrics.value(LISTENERS, () => this.listeners.size);
  }

  /** Sends events until the stream ends. */
  async open({ clientId }: AuthenticatedClient, request: Request, response: Response): Promise<void> {
    await this.watch.connect();
    const lastEventId = request.headers['last-event-id'];
    const resumed =
      lastEventId === undefined ? undefined : await this.positionOf(clientId, String(lastEventId));
    await this.watch.attend(clientId, LIMIT, () => this.serve(clientId, resumed, request, response));
  }

  private async serve(
    clientId: string,
    resumed: number | undefined,
    request: Request,
    response: Response,
  ): Promise<void> {
    const position = resumed ?? (await this.horizon.reach());
    if (this.watch.isStopping) throw streamUnavailable();
    response.set(HEADERS);
    await requestContext(request).recordNow();
    if (request.method === 'HEAD') response.end();
    else await this.run(new Listener(clientId, position, response, this.sourceOf(clientId, request)));
  }

  private async run(listener: Listener): Promise<void> {
    this.listeners.add(listener);
    try {
      await this.watch.during(listener, () => listener.run());
    } catch (error) {
      this.watch.report(error);
    } finally {
      this.listeners.delete(listener);
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
      isAuthenticated: () => this.credentials.areAccepted(request, STREAM_SCOPE),
    };
  }

  private async messageOf(clientId: string, { event, secretVersions }: StreamedEvent): Promise<string> {
    const headers = await this.signer.headersOf({ client: { clientId }, event, secretVersions });
    return `id: ${event.id}\ndata: ${JSON.stringify({ headers, body: event.body.toString('base64') })}\n\n`;
  }
}
