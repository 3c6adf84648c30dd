import { Injectable } from '@nestjs/common';
import {
  DatabaseConfiguration,
  QueryTimeout,
  ReadPools,
  type ReadPool,
} from '../../../infrastructure/database/index.js';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import { ApiError, RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { REQUEST_LOG_QUERY_TIMEOUT } from '../request-logs-errors.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import { MAX_LATENESS } from '../request-log-entry.js';

export interface LogReadOptions {
  readonly timeoutMessage?: string;
  /**
   * The time of the last row of the previous page. Only pages after one may read a replica: the newest page is always up to date.
   * If the time is recent, a replica may lack rows just before it, which no page would show.
   */
  readonly before?: Date | undefined;
}

/** Maximum number of queries of an organization that wait while another query runs. */
const MAX_WAITING = 4;
const RETRY_AFTER_SECONDS = 1;
/** The queries that did not run are not too slow themselves. */
const ANOTHER_QUERY =
  'The query did not run, because another query of your organization took too long. Try again when it has ended.';
const NO_CONNECTION =
  'The query did not run, because too many others were running. Try again in a few seconds.';

/** The connections for queries of the request log and of events, which users can make slow. */
@Injectable()
export class LogReads {
  private readonly pool: ReadPool;

  constructor(
    pools: ReadPools,
    configuration: RequestLogsConfiguration,
    private readonly database: DatabaseConfiguration,
    private readonly clock: Clock,
  ) {
    this.pool = pools.open('request-logs', {
      connections: configuration.readConnections,
      timeoutMilliseconds: configuration.queryTimeoutMilliseconds,
      mayLag: true,
    });
  }

  /** Whether the database did not respond a moment ago. */
  get isSilent(): boolean {
    return this.pool.isSilent;
  }

  /** @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout */
  query<Row extends object>(
    statement: string,
    parameters: readonly unknown[],
    { timeoutMessage, before }: LogReadOptions = {},
  ): Promise<Row[]> {
    const isFresh = before === undefined || before > this.settledUntil();
    return withinTime(this.pool.query<Row>(statement, parameters, { isFresh }), timeoutMessage);
  }

  /** Returns the time until which a replica has all rows, if queries use it. */
  private settledUntil(): Date {
    const maxLag = this.database.maxReadLagSeconds * SECOND;
    return new Date(this.clock.milliseconds() - MAX_LATENESS - maxLag);
  }
}

/** @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the timeout of its pool */
export async function withinTime<Rows>(query: Promise<Rows>, message?: string): Promise<Rows> {
  try {
    return await query;
  } catch (error) {
    if (!(error instanceof QueryTimeout)) throw error;
    throw REQUEST_LOG_QUERY_TIMEOUT.error(error.hasRun ? message : NO_CONNECTION);
  }
}

/** Returns undefined if the request log is too busy: pages must still show what they have from elsewhere. */
export async function unlessBusy<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/**
 * Runs one query of an organization at a time, so that slow queries of one organization leave connections to the others. All
 * organizations share a small connection pool, which serves waiting queries in their order of arrival.
 */
@Injectable()
export class OrganizationQueryQueue extends KeyedQueue {
  /**
   * Refuses a query with RATE_LIMIT_EXCEEDED if too many queries wait, and with REQUEST_LOG_QUERY_TIMEOUT if it waits longer than
   * a query may run. While the database is silent, neither is the reason.
   */
  constructor({ queryTimeoutMilliseconds }: RequestLogsConfiguration, reads: LogReads) {
    const unlessSilent = (error: ApiError): ApiError =>
      reads.isSilent ? SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER_SECONDS }) : error;
    super(1, {
      maxWaiting: MAX_WAITING,
      refusal: () => unlessSilent(RATE_LIMIT_EXCEEDED.error(undefined, { retryAfter: RETRY_AFTER_SECONDS })),
      timeout: {
        milliseconds: queryTimeoutMilliseconds,
        error: () => unlessSilent(REQUEST_LOG_QUERY_TIMEOUT.error(ANOTHER_QUERY)),
      },
    });
  }
}
