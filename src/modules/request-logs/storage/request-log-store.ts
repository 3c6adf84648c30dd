import type { PartitionStatus } from '../../../infrastructure/database/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import type { RequestPhases } from '../../../infrastructure/http-client/index.js';
import { SECOND, type Period } from '../../../infrastructure/time/index.js';

/**
 * Milliseconds. Entries are not committed exactly in the order of their time: several processes write them, in batches, and retry
 * after a second while the database is unavailable.
 */
export const MAX_LATENESS = 10 * SECOND;

export const REQUEST_LOG_TYPES = ['request', 'webhook'] as const;
export type RequestLogType = (typeof REQUEST_LOG_TYPES)[number];

/** A webhook has succeeded if the response was 200, an API request if it was not an error. */
export const REQUEST_LOG_OUTCOMES = ['success', 'failure'] as const;
export type RequestLogOutcome = (typeof REQUEST_LOG_OUTCOMES)[number];

/** Additional data of an entry about a webhook delivery attempt. */
export interface LoggedAttempt {
  readonly endpointId: string;
  readonly eventId: string;
  /** 1 for the first attempt. */
  readonly number: number;
  /** Stable code of the failure; null if the attempt succeeded. */
  readonly reason: string | null;
  /** The beginning of a failed response; null if it had no text. Of the methods that read, only `find` returns it. */
  readonly responseBody?: string | null;
  readonly phases: Omit<RequestPhases, 'total'>;
}

/** An entry to be written. The store assigns its ID. */
export interface NewRequestLogEntry {
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly createdAt: Date;
  readonly type: RequestLogType;
  readonly method: string;
  readonly path: string | null;
  readonly url: string | null;
  readonly event: string | null;
  readonly statusCode: number;
  readonly latencyMilliseconds: number;
  readonly sessionId: string | null;
  readonly taskId: number | null;
  readonly externalUserId: string | null;
  /** The tool that an agent called, if the request is one. */
  readonly tool?: string | null;
  /** Set for webhooks. */
  readonly attempt?: LoggedAttempt;
}

/** A stored entry. IDs are unique, but do not reflect the order of entries. */
export interface RequestLogEntry extends NewRequestLogEntry {
  readonly id: number;
}

/** The position of an entry in a log, which is sorted by time, and by ID within a millisecond. */
export type RequestLogPosition = Pick<RequestLogEntry, 'createdAt' | 'id'>;

/** The position of an attempt in the log of an endpoint. The ID is a decimal number. */
export interface AttemptPosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** An endpoint and its client, without which a store would have to search all entries. */
export interface LoggedEndpoint {
  readonly endpointId: string;
  readonly clientId: string;
}

export interface EndpointAttempt extends AttemptPosition {
  readonly eventId: string;
  readonly hasFailed: boolean;
}

/** The attempts to deliver one event to one endpoint. */
export interface AttemptSummary {
  readonly eventId: string;
  readonly endpointId: string;
  readonly count: number;
  /** The last attempt. Its URL is masked. */
  readonly last: RequestLogPosition &
    Pick<RequestLogEntry, 'url' | 'statusCode'> &
    Pick<LoggedAttempt, 'reason'>;
}

/** Conditions, all of which an entry must meet. */
export interface RequestLogFilter {
  readonly type?: RequestLogType | undefined;
  readonly sessionId?: string | undefined;
  readonly taskId?: number | undefined;
  readonly externalUserId?: string | undefined;
  readonly event?: string | undefined;
  readonly statusCode?: number | undefined;
  readonly endpointId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly outcome?: RequestLogOutcome | undefined;
}

/** Entries of a client in a period, including both ends. */
export interface RequestLogSelection {
  readonly client: AttributedClient;
  readonly period: Required<Period>;
  readonly filter: RequestLogFilter;
}

/** Port: stores request log entries. */
export abstract class RequestLogStore {
  /** Writes all entries durably, or none. Joins the open transaction. */
  abstract append(entries: readonly NewRequestLogEntry[]): Promise<void>;
  /**
   * Records in the open transaction that the entries of a file are written. If another transaction records the same file, waits
   * for it.
   *
   * @returns false if the entries already were written
   */
  abstract claimFile(id: string): Promise<boolean>;
  /**
   * Returns the newest entries of the selection, before the position if there is one.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  abstract newest(
    selection: RequestLogSelection,
    page: { readonly before: RequestLogPosition | undefined; readonly limit: number },
  ): Promise<RequestLogEntry[]>;
  /**
   * Returns the oldest entries of the selection, after the position if there is one.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  abstract oldest(
    selection: RequestLogSelection,
    page: { readonly after: RequestLogPosition | undefined; readonly limit: number },
  ): Promise<RequestLogEntry[]>;
  /**
   * Returns the entry with this ID if it belongs to one of these clients.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  abstract find(clients: readonly AttributedClient[], id: number): Promise<RequestLogEntry | undefined>;
  /** Returns a page of the delivery attempts to an endpoint after the position, oldest first; empty at the end. */
  abstract attempts(endpoint: LoggedEndpoint, after: AttemptPosition): Promise<EndpointAttempt[]>;
  /**
   * Returns the attempts to deliver some events since the time when the first of them was published.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  abstract attemptsOf(
    client: AttributedClient,
    eventIds: readonly string[],
    since: Date,
  ): Promise<AttemptSummary[]>;
  /** Creates the partitions of the coming days and drops those past retention. */
  abstract rotate(now: Date, retentionDays: number): Promise<void>;
  /**
   * Stores the days that ended before this time in less space.
   *
   * @returns false if the database cannot do that
   */
  abstract compress(before: Date): Promise<boolean>;
  /** Returns the partitions, oldest first, the default partition last. */
  abstract partitions(): Promise<PartitionStatus[]>;
}
