import {
  SpanKind,
  SpanStatusCode,
  type Span,
  type SpanOptions,
} from '../../../infrastructure/tracing/index.js';
import type { ClaimedDelivery, Outcome } from './delivery.js';

/**
 * An attempt is a trace of its own: it may be made minutes after the event was published, or days, when somebody sends
 * it again. `messaging.message.id`, the id of the event, leads from one to the other.
 */
export function attemptSpan({ id, endpointId, attempt, event, client }: ClaimedDelivery): SpanOptions {
  return {
    kind: SpanKind.CONSUMER,
    attributes: {
      'messaging.message.id': event.id,
      'mcs.client_id': client.clientId,
      'mcs.webhook.attempt': attempt,
      'mcs.webhook.delivery_id': id,
      'mcs.webhook.endpoint_id': endpointId,
    },
  };
}

/** Says in the span of an attempt how it ended. */
export function describeOutcome(span: Span, { reason }: Outcome): void {
  if (reason === null) return;
  span.setAttribute('error.type', reason).setStatus({ code: SpanStatusCode.ERROR });
}
