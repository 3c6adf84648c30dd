import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  type DashboardActor,
  type DashboardScope,
} from '../../infrastructure/auth/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import {
  OrganizationQueryQueue,
  RequestLogOverviewService,
  RequestLogRepository,
  unlessBusy,
  type RequestLogEntryResponse,
  type Trend,
} from '../request-logs/index.js';
import { EndpointLanes } from './endpoint-lanes.js';
import type { OwnedWebhookEndpoint } from './webhook-endpoints.service.js';

export interface EndpointActivity {
  /** The last attempts, newest first; undefined if the request log is too busy. */
  readonly attempts: readonly RequestLogEntryResponse[] | undefined;
  /** The number of events in the queue of the endpoint. It stops counting at `MAX_COUNTED`. */
  readonly waiting: number;
}

export const MAX_COUNTED = 1_000;
const SHOWN_ATTEMPTS = 5;
const PERIOD = 7 * DAY;

/** Finds what was sent to an endpoint recently, for its page. */
@Injectable()
export class RecentDeliveries {
  constructor(
    private readonly requestLog: RequestLogRepository,
    private readonly overviews: RequestLogOverviewService,
    private readonly clients: AccessibleClients,
    private readonly lanes: EndpointLanes,
    private readonly queries: OrganizationQueryQueue,
    private readonly clock: Clock,
  ) {}

  async of(actor: DashboardActor, endpoint: OwnedWebhookEndpoint): Promise<EndpointActivity> {
    const [attempts, waiting] = await Promise.all([
      this.attemptsTo(actor, endpoint),
      this.lanes.waitingFor(endpoint.id, MAX_COUNTED),
    ]);
    return { attempts, waiting };
  }

  /** Returns the attempts to each endpoint in the last 24 hours; undefined if the request log is too busy. */
  async trends(
    { actor, environment }: DashboardScope,
    targets: readonly string[],
  ): Promise<ReadonlyMap<string, Trend> | undefined> {
    const client = await this.clients.forEnvironment(actor, environment);
    return this.overviews.trends({ client, period: '24h', targets });
  }

  private async attemptsTo(
    { organizationId }: DashboardActor,
    { id: endpointId, client }: OwnedWebhookEndpoint,
  ): Promise<RequestLogEntryResponse[] | undefined> {
    const end = this.clock.now();
    const period = { start: new Date(end.getTime() - PERIOD), end };
    const selection = { client, period, filter: { endpoint_id: endpointId } };
    const page = { before: undefined, limit: SHOWN_ATTEMPTS };
    return unlessBusy(this.queries.run(organizationId, () => this.requestLog.newest(selection, page)));
  }
}
