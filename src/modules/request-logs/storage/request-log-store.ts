import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import type { Period } from '../../../infrastructure/time/index.js';

export const REQUEST_LOG_TYPES = ['request', 'webhook'] as const;
export type RequestLogType = (typeof REQUEST_LOG_TYPES)[number];

/** What is kept of an attempt to deliver a webhook, beside what every entry has. */
export interface LoggedAttempt {
  readonly endpointId: string;
  readonly eventId: string;
  /** 1 for the first. */
  readonly number: number;
  /** Why it failed, as a stable code; null when it succeeded. */
  readonly reason: string | null;
  /** Milliseconds; null for what was not reached or not needed. */
  readonly phases: {
    readonly dns: number | null;
    readonly connect: number | null;
    readonly tls: number | null;
    readonly firstByte: number | null;
  };
}

/** An entry as it is written; the id is given by the store. */
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
  /** Of a webhook. */
  readonly attempt?: LoggedAttempt;
}

/** An entry as it is kept. Ids are given by the store, and say nothing about the order of entries. */
export interface RequestLogEntry extends NewRequestLogEntry {
  readonly id: number;
}

/** The place of an entry in the order of a log: by time, entries of the same millisecond by id. */
export type RequestLogPosition = Pick<RequestLogEntry, 'createdAt' | 'id'>;

/** Which entries are asked for; all of what is given must be so. */
export interface RequestLogFilter {
  readonly type?: RequestLogType | undefined;
  readonly sessionId?: string | undefined;
  readonly taskId?: number | undefined;
  readonly externalUserId?: string | undefined;
  readonly event?: string | undefined;
  readonly statusCode?: number | undefined;
}

/** The entries of a client in a period, both ends included. */
export interface RequestLogSelection {
  readonly client: AttributedClient;
  readonly period: Required<Period>;
  readonly filter: RequestLogFilter;
}

/** A stretch of time of which the entries are kept together. */
export interface RequestLogPart {
  readonly name: string;
  /** Null where it is for entries of any other time. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** About how many. */
  readonly entries: number;
  readonly bytes: number;
}

/** Port: where request log entries are kept. */
export abstract class RequestLogStore {
  /** Writes all entries, durably, or none; within the caller's transaction where there is one. */
  abstract append(entries: readonly NewRequestLogEntry[]): Promise<void>;
  /**
   * The newest entries of the selection, in front of the position where one is given.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT when it takes longer than the configuration allows
   */
  abstract newest(
    selection: RequestLogSelection,
    page: { readonly before: RequestLogPosition | undefined; readonly most: number },
  ): Promise<RequestLogEntry[]>;
  /**
   * The oldest entries of the selection, behind the position where one is given.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT likewise
   */
  abstract oldest(
    selection: RequestLogSelection,
    page: { readonly after: RequestLogPosition | undefined; readonly most: number },
  ): Promise<RequestLogEntry[]>;
  /**
   * The entry of this id, if it is of one of these clients.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT likewise
   */
  abstract find(clients: readonly AttributedClient[], id: number): Promise<RequestLogEntry | undefined>;
  /**
   * Events that an endpoint was sent since a time and has not received once, in the order of their ids.
   *
   * @param page behind which id, and how many at most
   */
  abstract failedEvents(
    endpointId: string,
    since: Date,
    page: { readonly after: string | undefined; readonly most: number },
  ): Promise<string[]>;
  /** Makes room for the entries of the coming days and lets go of those past retention. */
  abstract rotate(now: Date, retentionDays: number): Promise<void>;
  /** How the entries are laid out, oldest first; entries outside of every planned part come last. */
  abstract parts(): Promise<RequestLogPart[]>;
}
