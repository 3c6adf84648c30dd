import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { Badge, dashboardPath, type Page, type Tone } from '../../../infrastructure/pages/index.js';
import type { AttemptSummary } from '../../request-logs/index.js';
import type { WebhookEndpointResponse } from '../endpoints/webhook-endpoints.dto.js';

export function endpointList(environment: PlatformEnvironment): NonNullable<Page['parent']> {
  return { title: 'Webhook endpoints', path: dashboardPath(environment, 'webhook-endpoints') };
}

export function endpointPath(environment: PlatformEnvironment, id: string): string {
  return dashboardPath(environment, 'webhook-endpoints', id);
}

const STATUSES: Readonly<Record<WebhookEndpointResponse['status'], readonly [Tone, string]>> = {
  enabled: ['good', 'Enabled'],
  paused: ['warn', 'Paused'],
  disabled: ['bad', 'Disabled: failing'],
};

/** The status of an endpoint, and whether its deliveries fail. */
export function EndpointStatus({ endpoint }: { readonly endpoint: WebhookEndpointResponse }): VNode {
  const { status, health } = endpoint;
  const [tone, label] = STATUSES[status];
  const isFailing = status === 'enabled' && health.consecutive_failures > 0;
  return (
    <span>
      <Badge tone={tone}>{label}</Badge>
      {isFailing ? ' ' : null}
      {isFailing ? <Badge tone="bad">{health.throttled ? 'Failing, throttled' : 'Failing'}</Badge> : null}
    </span>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  TIMEOUT: 'No response in time',
  DNS: 'Host name not found',
  TLS: 'TLS failed',
  REFUSED: 'Connection refused',
  RESET: 'Connection closed',
  NOT_HTTP: 'Not an HTTP response',
  HEADERS_TOO_LARGE: 'Headers too large',
  FORBIDDEN_ADDRESS: 'Address not public',
  INTERRUPTED: 'Interrupted',
};

/** The result of a delivery attempt: the status of the response, or why there was none. */
export function AttemptResult({
  statusCode,
  reason,
}: Pick<AttemptSummary['last'], 'statusCode' | 'reason'>): VNode {
  if (reason === null) return <Badge tone="good">{`Received (${statusCode})`}</Badge>;
  return (
    <Badge tone="bad">{reason === 'NON_200' ? `HTTP ${statusCode}` : (REASONS[reason] ?? reason)}</Badge>
  );
}
