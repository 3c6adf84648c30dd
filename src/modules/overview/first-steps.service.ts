import { Injectable } from '@nestjs/common';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { PublicAddress } from '../../infrastructure/http/index.js';
import type { PageVisit } from '../../infrastructure/pages/index.js';
import {
  AgentConnectionsService,
  AgentSettingsService,
  type AgentConnectionResponse,
} from '../agent-authorization/index.js';
import { RequestLogsService, type RequestLogOverview } from '../request-logs/index.js';
import { PublishedEventsService, type ListedEvent } from '../webhooks/index.js';

/** The operation with which `mcs listen` receives events. The log has no entry for an event that it received. */
const LISTENING = 'GET /development/webhooks/stream';

/** The first steps that a new organization has done in an environment, and the values that its commands need. */
export interface FirstStepsState {
  readonly clientId: string;
  readonly apiUrl: string;
  readonly connectorUrl: string;
  readonly hasSentRequest: boolean;
  readonly hasEndpoint: boolean;
  readonly hasReceivedEvent: boolean;
  /** The newest event of the last 7 days, whether or not anything has received it. */
  readonly event: ListedEvent | undefined;
  /** The connection that a user made last. */
  readonly agent: AgentConnectionResponse | undefined;
}

/** Finds out which of the first steps an organization has done. */
@Injectable()
export class FirstStepsService {
  constructor(
    private readonly requestLog: RequestLogsService,
    private readonly events: PublishedEventsService,
    private readonly connections: AgentConnectionsService,
    private readonly agents: AgentSettingsService,
    private readonly address: PublicAddress,
  ) {}

  /** Returns the state; undefined once all steps are done. @param overview of any period */
  async find(
    visit: PageVisit,
    client: AttributedClient,
    { requests, deliveries }: RequestLogOverview,
    hasEndpoint: boolean,
  ): Promise<FirstStepsState | undefined> {
    const hasEntry = async (type: 'request' | 'webhook'): Promise<boolean> =>
      (await this.requestLog.newestTime(visit, { type })) !== undefined;
    const { data } = await this.events.page(visit, {}, 1);
    const event = data[0]?.event;
    const hasListened =
      event !== undefined && requests.operations.some(({ operation }) => operation === LISTENING);
    const { data: connections } = await this.connections.listOf(client, { limit: 1 });
    const state = {
      clientId: client.clientId,
      apiUrl: this.address.of('platform'),
      connectorUrl: (await this.agents.get(visit.actor, visit.environment)).connectorUrl,
      hasSentRequest: requests.total > 0 || (await hasEntry('request')),
      hasEndpoint,
      hasReceivedEvent: deliveries.total > 0 || hasListened || (await hasEntry('webhook')),
      event,
      agent: connections[0],
    };
    const isDone = state.hasSentRequest && state.hasEndpoint && state.hasReceivedEvent && state.agent;
    return isDone ? undefined : state;
  }

  /** Returns whether the environment has no request and no delivery in any period. @param overview of any period */
  async isUnused(visit: PageVisit, { requests, deliveries }: RequestLogOverview): Promise<boolean> {
    const isEmpty = requests.total === 0 && deliveries.total === 0;
    return isEmpty && (await this.requestLog.newestTime(visit)) === undefined;
  }
}
