import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import {
  AccessibleClients,
  type DashboardActor,
  type DashboardScope,
} from '../../../infrastructure/auth/index.js';
import { Transactional, type Check } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD, NOT_FOUND } from '../../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { Clock, CLOCK_TOLERANCE, DAY, type Period } from '../../../infrastructure/time/index.js';
import { AuditLog, changesBetween } from '../../audit-logs/index.js';
import {
  OrganizationQueryQueue,
  RequestLogRepository,
  RequestLogsConfiguration,
  unlessBusy,
  validPeriod,
  type AttemptSummary,
  type FailedDeliveries,
} from '../../request-logs/index.js';
import {
  WEBHOOK_ENDPOINT_NOT_FOUND,
  WebhookEndpointsService,
  type WebhookEndpointResponse,
} from '../../webhook-endpoints/index.js';
import { RESEND_RUNNING, type RecoveryResponse } from '../deliveries.dto.js';
import { PublishedEventsRepository } from '../events/published-events.repository.js';
import { ResendsRepository, type ResendProgress, type SelectedResend } from './resends.repository.js';
import { MAX_SELECTED, selectedFrom, type ResendQuery } from './resends.dto.js';

/** How many failed attempts one resend considers, the newest of the filter. Deliveries have up to three, or more if they were resent. */
const MAX_ATTEMPTS = 10_000;

export interface ResendPlan {
  readonly query: ResendQuery;
  /** Undefined if deliveries were selected one by one. */
  readonly period: Required<Period> | undefined;
  /** Whether the period begins later than requested, because there are too many failed attempts. */
  readonly isCut: boolean;
  /** The failed deliveries to each endpoint that can be sent again. */
  readonly targets: readonly {
    readonly endpoint: WebhookEndpointResponse;
    readonly eventIds: readonly string[];
  }[];
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

/**
 * The outcomes of the events of a resend so far. Events that are not queued yet count as waiting. Events that have neither an attempt
 * nor a waiting delivery were skipped.
 */
export type ResendOutcomes = Readonly<Record<'delivered' | 'failed' | 'waiting' | 'skipped', number>>;

/** A resend that a user started, with its endpoint unless that was deleted. */
export interface StartedResend extends ResendProgress {
  readonly endpoint: WebhookEndpointResponse | undefined;
  /** Undefined if version 0.3.0 ended the resend, if the request log no longer has its attempts, or if the log is too busy. */
  readonly outcomes: ResendOutcomes | undefined;
}

type Found = Pick<FailedDeliveries, 'eventIds' | 'endpointIds'> &
  Pick<ResendPlan, 'period' | 'isCut'> & { readonly received: number };

const RECOVERY_RUNNING = 'A recovery of one of these endpoints is running. Try again when it has finished.';
const RESEND_NOT_FOUND =
  'Nothing was sent again under this address, or its endpoints were deleted. What was sent again is shown for 90 days.';

/** Sends events again: all that an endpoint has not received since a time, or selected ones to several endpoints. */
@Injectable()
export class ResendsService {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly endpoints: WebhookEndpointsService,
    private readonly publishedEvents: PublishedEventsRepository,
    private readonly requestLog: RequestLogRepository,
    private readonly repository: ResendsRepository,
    private readonly auditLog: AuditLog,
    private readonly queries: OrganizationQueryQueue,
    private readonly configuration: RequestLogsConfiguration,
    private readonly clock: Clock,
  ) {}

  /** Has `ResendsJob` send all events that the endpoint has not received since the time. */
  @Transactional()
  async recover(actor: DashboardActor, id: string, since: Date): Promise<RecoveryResponse> {
    const endpoint = await this.endpoints.lockActive(actor, id);
    const start = new Date(Math.max(since.getTime(), this.oldest().getTime()));
    const [recovery] = await this.repository.request([{ endpointId: id, eventIds: null }], {
      since: start,
      now: this.clock.now(),
    });
    // The endpoint may have been deleted since it was read.
    if (!recovery) throw WEBHOOK_ENDPOINT_NOT_FOUND.error();
    // The running resend sends only the selected events.
    if (recovery.batchId !== null) throw INVALID_FIELD.error(RESEND_RUNNING);
    if (recovery.isNew)
      await this.endpoints.record('webhook.resend', actor, endpoint, changesBetween({}, { since: start }));
    return toRecovery(recovery);
  }

  async lastRecovery(actor: DashboardActor, id: string): Promise<RecoveryResponse> {
    const endpoint = await this.endpoints.require(actor, id);
    return toRecovery(await this.repository.lastRecovery(endpoint.id));
  }

  /** Finds what a resend of selected deliveries would send now. */
  async plan({ actor, environment }: DashboardScope, query: ResendQuery): Promise<ResendPlan> {
    const client = await this.clients.forEnvironment(actor, environment);
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    const [{ period, isCut, received }, sendable] = await this.queries.run(actor.organizationId, async () => {
      const found = await this.find(client, query);
      return [found, await this.publishedEvents.sendable(client.clientId, found)] as const;
    });
    const targets = endpoints.flatMap((endpoint) => {
      const eventIds = sendable.find(({ endpointId }) => endpointId === endpoint.id)?.eventIds ?? [];
      return eventIds.length === 0 ? [] : [{ endpoint, eventIds }];
    });
    return {
      query,
      period,
      isCut,
      targets,
      count: sum(targets.map(({ eventIds }) => eventIds.length)),
      leftOut: {
        received,
        sending: sum(sendable.map(({ sending }) => sending)),
        impossible: sum(sendable.map(({ impossible }) => impossible)),
      },
    };
  }

  /**
   * Starts a batch of resends, unless one with this ID was started.
   *
   * @param id from the form, so that a form that is sent twice starts one batch
   * @param check refuses a plan that sends to other endpoints than the user was shown
   * @throws ApiError INVALID_FIELD if there is nothing to send, or an endpoint has a running recovery
   */
  async start(
    scope: DashboardScope,
    id: string,
    query: ResendQuery,
    check: Check<ResendPlan>,
  ): Promise<void> {
    if (!isUUID(id)) throw INVALID_FIELD.error('The form is not complete. Reload the page.');
    const { clientId } = await this.clients.forEnvironment(scope.actor, scope.environment);
    const isStarted = async (): Promise<boolean> => (await this.repository.ofBatch(clientId, id)).length > 0;
    if (await isStarted()) return;
    const plan = await this.plan(scope, query);
    check(plan);
    try {
      await this.add(scope, id, plan);
    } catch (error) {
      // The same form, sent twice at the same time.
      if (!(await isStarted())) throw error;
    }
  }

  /** @throws ApiError NOT_FOUND */
  async get(
    { actor, environment }: DashboardScope,
    id: string,
  ): Promise<readonly [StartedResend, ...StartedResend[]]> {
    const client = await this.clients.forEnvironment(actor, environment);
    const resends = isUUID(id) ? await this.repository.ofBatch(client.clientId, id) : [];
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    const endpointOf = ({ endpointId }: ResendProgress) => endpoints.find((each) => each.id === endpointId);
    const outcomes = await unlessBusy(
      this.queries.run(actor.organizationId, () => this.outcomesOf(client, resends)),
    );
    const [first, ...others] = resends.map(({ eventIds, ...resend }, index) => ({
      ...resend,
      endpoint: endpointOf(resend),
      outcomes: eventIds === null ? undefined : outcomes?.[index],
    }));
    if (!first) throw NOT_FOUND.error(RESEND_NOT_FOUND);
    return [first, ...others];
  }

  @Transactional()
  private async add(
    { actor, environment }: DashboardScope,
    id: string,
    { query, period, targets, count }: ResendPlan,
  ): Promise<void> {
    if (count === 0) throw INVALID_FIELD.error('There is nothing to send again.');
    const selection = targets.map(({ endpoint, eventIds }) => ({ endpointId: endpoint.id, eventIds }));
    const since = period?.start ?? this.oldest();
    const resends = await this.repository.request(selection, { batchId: id, since, now: this.clock.now() });
    if (resends.filter(({ isNew }) => isNew).length < targets.length)
      throw INVALID_FIELD.error(RECOVERY_RUNNING);
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

  /**
   * Counts by the last attempts since the resends were requested, and by the deliveries that wait for another attempt. Undefined for
   * resends whose first attempts the log no longer has.
   */
  private async outcomesOf(
    client: AttributedClient,
    resends: readonly SelectedResend[],
  ): Promise<ResendOutcomes[] | undefined> {
    const ids = [...new Set(resends.flatMap(({ eventIds }) => eventIds ?? []))];
    const [first] = resends;
    if (!first || ids.length === 0 || first.requestedAt < this.oldest()) return undefined;
    // In this order: a delivery that ends in between is counted as waiting, not as skipped.
    const pending = await this.publishedEvents.pending(client.clientId, ids);
    // The clock of the process that logs an attempt may be behind.
    const since = new Date(first.requestedAt.getTime() - CLOCK_TOLERANCE);
    const attempts = await this.requestLog.attemptsOf(client, ids, since);
    return resends.map(({ endpointId, eventIds, handled, finishedAt }) => {
      const isOf = (each: { readonly endpointId: string }): boolean => each.endpointId === endpointId;
      const queued = new Set(pending.filter(isOf).map(({ eventId }) => eventId));
      const lastOf = new Map(attempts.filter(isOf).map(({ eventId, last }) => [eventId, last]));
      const outcomes = { delivered: 0, failed: 0, waiting: 0, skipped: 0 };
      for (const [index, eventId] of (eventIds ?? []).entries()) {
        const isWaiting = queued.has(eventId) || (index >= handled && finishedAt === null);
        outcomes[isWaiting ? 'waiting' : outcomeOf(lastOf.get(eventId))] += 1;
      }
      return outcomes;
    });
  }

  private async find(client: AttributedClient, query: ResendQuery): Promise<Found> {
    if (query.selected !== undefined) return this.findSelected(client, query.selected);
    const period = validPeriod(query, this.clock.now());
    if (query.type === 'request' || query.outcome === 'success')
      return { eventIds: [], endpointIds: [], period, isCut: false, received: 0 };
    const selection = { client, period, filter: query };
    const found = await this.requestLog.failedDeliveries(selection, MAX_ATTEMPTS);
    const isCut = found.attemptsRead === MAX_ATTEMPTS;
    const start = (isCut && found.readFrom) || period.start;
    return { ...found, period: { ...period, start }, isCut, received: 0 };
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
      period: undefined,
      isCut: false,
      received: chosen.length - failed.length,
    };
  }

  /** Returns the time since which the request log has entries. */
  private oldest(): Date {
    return new Date(this.clock.milliseconds() - this.configuration.retentionDays * DAY);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** @param last the last attempt; undefined if there was none */
function outcomeOf(last: AttemptSummary['last'] | undefined): 'delivered' | 'failed' | 'skipped' {
  if (!last) return 'skipped';
  return last.reason === null ? 'delivered' : 'failed';
}

/** @param recovery undefined if the endpoint has had none */
function toRecovery(recovery: ResendProgress | undefined): RecoveryResponse {
  return {
    status: recovery ? (recovery.finishedAt ? 'finished' : 'running') : 'none',
    since: recovery?.since ?? null,
    queued: recovery?.queued ?? 0,
    requested_at: recovery?.requestedAt ?? null,
    finished_at: recovery?.finishedAt ?? null,
  };
}
