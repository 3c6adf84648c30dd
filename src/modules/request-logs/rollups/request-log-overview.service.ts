import { Injectable } from '@nestjs/common';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock, DAY, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { countsBy, sectionOf, type RequestLogOverview } from './request-log-overview.js';
import { RequestLogOverviewRepository } from './request-log-overview.repository.js';

/** Lengths of overviews, and of their points, which are multiples of a slice and start at multiples of their length. */
const PERIODS = {
  '24h': { length: DAY, step: 30 * MINUTE },
  '7d': { length: 7 * DAY, step: 3 * HOUR },
} as const;

export type OverviewPeriod = keyof typeof PERIODS;

/** Summarizes the request log of a client for the dashboard. */
@Injectable()
export class RequestLogOverviewService {
  constructor(
    private readonly repository: RequestLogOverviewRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts the entries of a client in the last 24 hours or 7 days. The period starts with a whole point, so it is up to one
   * point shorter.
   *
   * @param client must belong to the organization of the user, as the clients of `AccessibleClients` do
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if a query exceeds the configured timeout
   */
  async overview({
    client,
    period,
    now = this.clock.now(),
  }: {
    readonly client: AttributedClient;
    readonly period: OverviewPeriod;
    readonly now?: Date;
  }): Promise<RequestLogOverview> {
    const { length, step } = PERIODS[period];
    const start = new Date(Math.ceil((now.getTime() - length) / step) * step);
    const { since, counts } = await this.repository.counts({ client, start, end: now, step });
    const starts: Date[] = [];
    for (let time = start.getTime(); time <= now.getTime(); time += step) starts.push(new Date(time));
    return {
      start,
      end: now,
      step,
      incompleteBefore: since > start ? since : null,
      requests: {
        ...sectionOf('request', starts, counts),
        operations: countsBy('operation', 'request', counts, ({ target }) => target),
      },
      deliveries: {
        ...sectionOf('webhook', starts, counts),
        endpoints: countsBy('endpointId', 'webhook', counts, ({ target }) => target),
        events: countsBy('event', 'webhook', counts, ({ event }) => event),
      },
    };
  }
}
