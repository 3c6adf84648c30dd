import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

/** What is kept of an attempt to deliver a webhook, beside what every entry has. */
interface LoggedAttempt {
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
  readonly type: 'request' | 'webhook';
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

/** Port: where request log entries are kept. */
export abstract class RequestLogStore {
  /** Writes all entries, durably, or none; within the caller's transaction where there is one. */
  abstract append(entries: readonly NewRequestLogEntry[]): Promise<void>;
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
}
