import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { isTransientFailure, JobFailures } from '../../../infrastructure/database/index.js';
import { HttpClient, type OutgoingResult } from '../../../infrastructure/http-client/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import {
  SpanKind,
  SpanStatusCode,
  Tracing,
  type SpanOptions,
} from '../../../infrastructure/tracing/index.js';
import { KeyUnavailable } from '../../webhook-endpoints/index.js';
import type { ClaimedDelivery, Outcome } from '../delivery.js';
import { EventSigner } from '../signing/event-signer.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import { excerptOf } from './response-excerpt.js';

/** Success is status 200 and nothing else (specification, "Delivery"). */
const OK = 200;

/** Milliseconds. The last read of the secret and the attempt can take 10 s each, and the lease of the delivery ends after 30 s. */
const DATABASE_TIMEOUT = 8 * SECOND;
const DATABASE_RETRY_DELAY = SECOND / 2;

/** An attempt that is not made does not count: its delivery waits for the key. */
const WITHOUT_KEY: Outcome = {
  statusCode: 0,
  reason: 'KEY_UNAVAILABLE',
  fault: 'ours',
  explanation: 'The service could not read the key or the headers of the endpoint, so it sent nothing.',
  responseBody: null,
  phases: { dns: null, connect: null, tls: null, firstByte: null, total: 0 },
};

/** Makes one attempt: signs the event, posts it to the endpoint, and classifies the result. */
@Injectable()
export class DeliverySender {
  private readonly logger = new Logger('Webhooks');

  @Inject()
  private readonly failures!: JobFailures;

  constructor(
    private readonly signer: EventSigner,
    private readonly http: HttpClient,
    private readonly configuration: WebhookDeliveriesConfiguration,
    private readonly tracing: Tracing,
  ) {}

  send(delivery: ClaimedDelivery): Promise<Outcome> {
    const { url, event } = delivery;
    // Each attempt is a trace of its own, because it can run minutes or days after the event was published. The event's ID
    // links the two.
    const options = (): SpanOptions => ({
      kind: SpanKind.CONSUMER,
      attributes: {
        'messaging.message.id': event.id,
        'mcs.client_id': delivery.client.clientId,
        'mcs.webhook.attempt': delivery.attempt,
        'mcs.webhook.delivery_id': delivery.id,
        'mcs.webhook.endpoint_id': delivery.endpointId,
      },
    });
    return this.tracing.inSpan(`deliver ${event.name}`, options, async (span) => {
      const headers = await this.headersOf(delivery);
      const outcome = headers
        ? toOutcome(
            await this.http.post({
              url,
              headers,
              body: event.body,
              // Endpoints that share a host must not wait for each other: their lanes limit the concurrency.
              connections: this.configuration.concurrency,
              wantsText: (status) => status !== OK,
            }),
          )
        : WITHOUT_KEY;
      if (outcome.reason !== null) {
        span?.setAttribute('error.type', outcome.reason).setStatus({ code: SpanStatusCode.ERROR });
      }
      return outcome;
    });
  }

  /**
   * Waits while the database is unavailable, because the secret may have to be read from it. Otherwise the outage would use up an
   * attempt of the delivery.
   *
   * @returns undefined if the endpoint's own key or headers cannot be read
   */
  private async headersOf(delivery: ClaimedDelivery): Promise<Record<string, string> | undefined> {
    const end = performance.now() + DATABASE_TIMEOUT;
    for (;;) {
      try {
        return await this.signer.headersOf(delivery);
      } catch (error) {
        if (error instanceof KeyUnavailable) {
          if (this.failures.report(this, error))
            this.logger.error('Deliveries wait: their endpoint has no key that can be read', {
              endpoint: delivery.endpointId,
              cause: error.message,
            });
          return undefined;
        }
        if (!isTransientFailure(error) || performance.now() > end) throw error;
        await pause(DATABASE_RETRY_DELAY);
      }
    }
  }
}

function toOutcome({
  statusCode,
  failure,
  fault,
  explanation,
  retryAfterSeconds,
  text,
  phases,
}: OutgoingResult): Outcome {
  return {
    statusCode,
    reason: failure ?? (statusCode === OK ? null : 'NON_200'),
    ...(fault && { fault }),
    ...(explanation !== null && { explanation }),
    ...(retryAfterSeconds !== null && { retryAfterMilliseconds: retryAfterSeconds * SECOND }),
    responseBody: (text && excerptOf(text)) || null,
    phases,
  };
}
