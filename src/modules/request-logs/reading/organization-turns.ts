import { Injectable } from '@nestjs/common';
import { RATE_LIMIT_EXCEEDED } from '../../../infrastructure/errors/index.js';
import { REQUEST_LOG_QUERY_TIMEOUT } from '../request-log-errors.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';

/** Maximum number of queries of an organization that wait while another query runs. */
const MAX_WAITING = 4;
const RETRY_AFTER_SECONDS = 1;

/**
 * Runs one query of an organization at a time, so that slow queries of one organization leave connections to the others.
 * All organizations share a small connection pool, which serves waiting queries in their order of arrival.
 */
@Injectable()
export class OrganizationTurns {
  /** The waiting queries of each organization that has a running one. */
  private readonly queues = new Map<string, (() => void)[]>();

  constructor(private readonly configuration: RequestLogsConfiguration) {}

  /**
   * @throws ApiError RATE_LIMIT_EXCEEDED if too many queries wait, and REQUEST_LOG_QUERY_TIMEOUT if this one waits longer
   * than a query may run
   */
  async run<Result>(organizationId: string, query: () => Promise<Result>): Promise<Result> {
    await this.begin(organizationId);
    try {
      return await query();
    } finally {
      this.end(organizationId);
    }
  }

  private begin(organizationId: string): Promise<void> | undefined {
    const queue = this.queues.get(organizationId);
    if (!queue) {
      this.queues.set(organizationId, []);
      return undefined;
    }
    if (queue.length >= MAX_WAITING)
      throw RATE_LIMIT_EXCEEDED.error(undefined, { retryAfter: RETRY_AFTER_SECONDS });
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(start), 1);
        reject(REQUEST_LOG_QUERY_TIMEOUT.error());
      }, this.configuration.queryTimeoutMilliseconds);
      queue.push(start);
    });
  }

  private end(organizationId: string): void {
    const startNext = this.queues.get(organizationId)?.shift();
    if (startNext) startNext();
    else this.queues.delete(organizationId);
  }
}
