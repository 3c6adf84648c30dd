import type { VNode } from 'preact';
import { Injectable, type PipeTransform } from '@nestjs/common';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  Badge,
  dashboardPath,
  type Page,
  type Tone,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { deliveryFailure, type AttemptSummary } from '../../request-logs/index.js';
import type { WebhookEndpointResponse } from '../webhook-endpoints.dto.js';
import { WebhookEndpointsService, type OwnedWebhookEndpoint } from '../webhook-endpoints.service.js';

export function endpointList(environment: PlatformEnvironment): NonNullable<Page['parent']> {
  return { title: 'Webhook endpoints', path: dashboardPath(environment, 'webhook-endpoints') };
}

/** Returns the path of the page of an endpoint. */
export function endpointPath(environment: PlatformEnvironment, id: string): string {
  return dashboardPath(environment, 'webhook-endpoints', id);
}

/** Returns the page of an endpoint, as the parent of its other pages. */
export function pageOfEndpoint(
  environment: PlatformEnvironment,
  { id, url, description }: Pick<WebhookEndpointResponse, 'id' | 'url' | 'description'>,
): NonNullable<Page['parent']> {
  return { title: description || url, path: endpointPath(environment, id) };
}

/** Failures in a row from which on an endpoint counts as failing. A single one is retried. */
const MIN_FAILURES = 3;

/** The health of an endpoint in one statement: whether it receives events, and if not, why. */
export function EndpointStatus({ endpoint }: { readonly endpoint: WebhookEndpointResponse }): VNode {
  const [tone, label] = healthOf(endpoint);
  return <Badge tone={tone}>{label}</Badge>;
}

function healthOf({ status, health }: WebhookEndpointResponse): readonly [Tone, string] {
  if (status === 'disabled') return ['bad', 'Disabled: failing'];
  if (status === 'paused') return ['warn', 'Paused'];
  if (health.throttled) return ['bad', 'Failing, throttled'];
  if (health.consecutive_failures >= MIN_FAILURES) return ['bad', 'Failing'];
  if (health.consecutive_failures > 0) return ['warn', 'Last attempt failed'];
  return health.last_success_at === null ? ['soft', 'No deliveries yet'] : ['good', 'Healthy'];
}

/** The result of a delivery attempt: the status of the response, or why there was none. */
export function AttemptResult({
  statusCode,
  reason,
}: Pick<AttemptSummary['last'], 'statusCode' | 'reason'>): VNode {
  if (reason === null) return <Badge tone="good">{`Received (${statusCode})`}</Badge>;
  return (
    <Badge tone="bad">{reason === 'NON_200' ? `HTTP ${statusCode}` : deliveryFailure(reason).title}</Badge>
  );
}

export interface EndpointVisit extends PageVisit<'id'> {
  readonly endpoint: OwnedWebhookEndpoint;
}

/** Finds the endpoint in the path of a page, in the environment that the page shows. */
@Injectable()
export class EndpointPipe implements PipeTransform<PageVisit<'id'>, Promise<EndpointVisit>> {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  async transform(visit: PageVisit<'id'>): Promise<EndpointVisit> {
    return { ...visit, endpoint: await this.endpoints.requireIn(visit, visit.params.id) };
  }
}
