import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { AccessibleClients, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { ApiError, INVALID_FIELD, NOT_FOUND } from '../../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { Clock, DAY, type Period } from '../../../infrastructure/time/index.js';
import { AuditLog, changesBetween } from '../../audit-logs/index.js';
import {
  OrganizationTurns,
  RequestLogRepository,
  RequestLogsConfiguration,
  validPeriod,
  type FailedDeliveries,
} from '../../request-logs/index.js';
import { type WebhookEndpointResponse, WebhookEndpointsService } from '../../webhook-endpoints/index.js';
import { PublishedEventsRepository } from '../events/published-events.repository.js';
import { RecoveriesRepository, type ResendPart } from './recoveries.repository.js';
import { MAX_SELECTED, selectedFrom, type ResendQuery } from './resends.dto.js';

/** How many failed attempts one resend considers, the newest of the filter. Deliveries have up to three, or more if they were resent. */
const MAX_ATTEMPTS = 10_000;

/** The failed deliveries to one endpoint that can be sent again. */
export interface ResendTarget {
  readonly endpoint: WebhookEndpointResponse;
  readonly eventIds: readonly string[];
}

/** What a resend would send. */
export interface ResendPlan {
  readonly query: ResendQuery;
  /** Undefined if deliveries were selected one by one. */
  readonly period: Required<Period> | undefined;
  /** Whether the period begins later than requested, because there are too many failed attempts. */
  readonly isCut: boolean;
  readonly targets: readonly ResendTarget[];
  readonly count: number;
  readonly leftOut: {
    /** Selected deliveries that the endpoint has received. */
    readonly received: number;
    /** Deliveries that are being sent. */
    readonly sending: number;
    /** Tests, events that the endpoint is no longer subscribed to or that are not stored, and all of disabled endpoints. */
    readonly impossible: number;
  };
}

/** A resend that was started: one recovery for each endpoint. */
export interface Resend {
  readonly parts: readonly (ResendPart & { readonly endpoint: WebhookEndpointResponse | undefined })[];
  readonly isFinished: boolean;
}

interface Found extends FailedDeliveries {
  readonly period: Required<Period> | undefined;
  readonly received: number;
}

const RESEND_NOT_FOUND =
  'Nothing was sent again under this address, or its endpoints were deleted. What was sent again is shown for 90 days.';

/** Sends failed deliveries of several events and endpoints again. `RecoveriesJob` does the work. */
@Injectable()
export class ResendsService {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: PublishedEventsRepository,
    private readonly requestLog: RequestLogRepository,
    private readonly repository: RecoveriesRepository,
    private readonly auditLog: AuditLog,
    private readonly turns: OrganizationTurns,
    private readonly configuration: RequestLogsConfiguration,
    private readonly clock: Clock,
  ) {}

  /** Finds what a resend would send now. */
  async plan(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    query: ResendQuery,
  ): Promise<ResendPlan> {
    const client = await this.clients.forEnvironment(actor, environment);
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    const { found, sendable } = await this.turns.run(actor.organizationId, async () => {
      const deliveries = await this.find(client, query);
      return { found: deliveries, sendable: await this.events.sendable(client.clientId, deliveries) };
    });
    const targets = endpoints.flatMap((endpoint) => {
      const eventIds = sendable.find(({ endpointId }) => endpointId === endpoint.id)?.eventIds ?? [];
      return eventIds.length === 0 ? [] : [{ endpoint, eventIds }];
    });
    const isCut = found.attemptsRead === MAX_ATTEMPTS;
    const start = isCut ? found.readFrom : undefined;
    return {
      query,
      period: found.period && { ...found.period, ...(start && { start }) },
      isCut,
      targets,
      count: sum(targets.map(({ eventIds }) => eventIds.length)),
      leftOut: {
        received: found.received,
        sending: sum(sendable.map(({ sending }) => sending)),
        impossible: sum(sendable.map(({ impossible }) => impossible)),
      },
    };
  }

  /**
   * Starts a resend, unless one with this ID was started.
   *
   * @param id from the form, so that a form that is sent twice starts one resend
   * @throws ApiError INVALID_FIELD if there is nothing to send, or an endpoint has a running recovery
   */
  async start(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    query: ResendQuery,
  ): Promise<void> {
    if (!isUUID(id)) throw INVALID_FIELD.error('The form is not complete. Reload the page.');
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const isStarted = async (): Promise<boolean> => (await this.repository.partsOf(clientId, id)).length > 0;
    if (await isStarted()) return;
    const plan = await this.plan(actor, environment, query);
    try {
      await this.add(actor, environment, id, plan);
    } catch (error) {
      // The same form, sent twice at the same time.
      if (!(error instanceof ApiError) || !(await isStarted())) throw error;
    }
  }

  /** @throws ApiError NOT_FOUND */
  async get(actor: DashboardActor, environment: PlatformEnvironment, id: string): Promise<Resend> {
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const parts = isUUID(id) ? await this.repository.partsOf(clientId, id) : [];
    if (parts.length === 0) throw NOT_FOUND.error(RESEND_NOT_FOUND);
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    return {
      parts: parts.map((part) => ({
        ...part,
        endpoint: endpoints.find((each) => each.id === part.endpointId),
      })),
      isFinished: parts.every(({ finishedAt }) => finishedAt !== null),
    };
  }

  @Transactional()
  private async add(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
    { query, period, targets, count }: ResendPlan,
  ): Promise<void> {
    if (count === 0) throw INVALID_FIELD.error('There is nothing to send again.');
    const selection = targets.map(({ endpoint, eventIds }) => ({ endpointId: endpoint.id, eventIds }));
    const since = period?.start ?? this.oldest();
    const added = await this.repository.requestSelected(id, selection, { since, now: this.clock.now() });
    if (added < targets.length)
      throw INVALID_FIELD.error(
        'A recovery of one of these endpoints is running. Try again when it has finished.',
      );
    const { external_user_id: user, event, status_code, session_id, task_id, event_id } = query;
    const audited = {
      deliveries: count,
      endpoints: targets.map(({ endpoint }) => maskedUrl(endpoint.url)),
      // The audit log cannot forget users.
      ...(user !== undefined && { user: 'one user' }),
      ...(period && { start: period.start, end: period.end }),
      event,
      status_code,
      session_id,
      task_id,
      event_id,
    };
    await this.auditLog.record({
      action: 'webhook.resend',
      actor,
      target: { environment },
      changes: changesBetween({}, audited),
    });
  }

  private async find(client: AttributedClient, query: ResendQuery): Promise<Found> {
    if (query.selected !== undefined) return this.findSelected(client, query.selected);
    const period = validPeriod(query, this.clock.now());
    const isContradictory = query.type === 'request' || query.outcome === 'success';
    const found = isContradictory
      ? NOTHING
      : await this.requestLog.failedDeliveries({ client, period, filter: query }, MAX_ATTEMPTS);
    return { ...found, period, received: 0 };
  }

  private async findSelected(client: AttributedClient, text: string): Promise<Found> {
    const selected = selectedFrom(text).filter(({ eventId }) => isUUID(eventId));
    if (selected.length > MAX_SELECTED)
      throw INVALID_FIELD.error(`At most ${MAX_SELECTED} deliveries can be selected.`);
    const eventIds = [...new Set(selected.map(({ eventId }) => eventId))];
    const attempts = await this.requestLog.attemptsOf(client, eventIds, this.oldest());
    const chosen = attempts.filter(({ eventId, endpointId }) =>
      selected.some((each) => each.eventId === eventId && endpointId.startsWith(each.endpoint)),
    );
    const failed = chosen.filter(({ last }) => last.reason !== null);
    return {
      eventIds: failed.map(({ eventId }) => eventId),
      endpointIds: failed.map(({ endpointId }) => endpointId),
      attemptsRead: 0,
      readFrom: null,
      period: undefined,
      received: chosen.length - failed.length,
    };
  }

  /** Returns the time since which the request log has entries. */
  private oldest(): Date {
    return new Date(this.clock.milliseconds() - this.configuration.retentionDays * DAY);
  }
}

const NOTHING: FailedDeliveries = { eventIds: [], endpointIds: [], attemptsRead: 0, readFrom: null };

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
