import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { RequestPhases } from '../../infrastructure/http-client/index.js';
import { SECOND } from '../../infrastructure/time/index.js';

/**
 * Milliseconds. Entries are not committed exactly in the order of their time: several processes write them, in batches, and retry
 * after a second while the database is unavailable.
 */
export const MAX_LATENESS = 10 * SECOND;

export const REQUEST_LOG_TYPES = ['request', 'webhook'] as const;
export type RequestLogType = (typeof REQUEST_LOG_TYPES)[number];

/** Characters of the operation of an API request, as it is counted. */
export const MAX_OPERATION_LENGTH = 200;

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
  /** The beginning of a failed response; null if it had no text. */
  readonly responseBody?: string | null;
  readonly phases: Omit<RequestPhases, 'total'>;
}

/** An entry to be written. The database assigns its ID. */
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
  /** Name and host of the agent, if its user connected it. */
  readonly agent?: string | null;
  /** Name of the API key that the request was sent with. */
  readonly apiKey?: string | null;
  /** Version of the secret that the request was sent with. */
  readonly secretVersion?: number | null;
  /** The address that sent the request, and the program as it calls itself. */
  readonly ip?: string | null;
  readonly userAgent?: string | null;
  /** The error code of the response to an API request. */
  readonly errorCode?: string | null;
  /** The message of the error, at most 500 characters. */
  readonly errorMessage?: string | null;
  /** The request ID of an API request. */
  readonly requestId?: string | null;
  /** Set for webhooks. */
  readonly attempt?: LoggedAttempt;
}

/** Returns the entry of an erased user. As in the table, the address and texts that may repeat the identifier are removed. */
export function anonymized(
  { attempt, ...entry }: NewRequestLogEntry,
  externalUserId: string,
): NewRequestLogEntry {
  const anonymous = { ...entry, externalUserId, errorMessage: null, ip: null, userAgent: null };
  return attempt ? { ...anonymous, attempt: { ...attempt, responseBody: null } } : anonymous;
}

/**
 * The position of an entry in a log, which is sorted by time, and by ID within a millisecond. IDs are unique, but do not reflect the
 * order of entries.
 */
export interface RequestLogPosition {
  readonly datetime: Date;
  readonly id: number;
}

/** The position of an attempt in the log of an endpoint. The ID is a decimal number. */
export interface AttemptPosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** An endpoint and its client, without which a query would have to search all entries. */
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
  readonly last: Pick<NewRequestLogEntry, 'createdAt' | 'url' | 'statusCode'> &
    Pick<LoggedAttempt, 'reason'> & { readonly id: number };
}

/** Deliveries whose last attempt has failed, in the order of these attempts: an event and an endpoint at each position. */
export interface FailedDeliveries {
  readonly eventIds: readonly string[];
  readonly endpointIds: readonly string[];
  /** The number of failed attempts among which they were found. */
  readonly attemptsRead: number;
  /** The time of the first of these attempts; null if there is none. */
  readonly readFrom: Date | null;
}
