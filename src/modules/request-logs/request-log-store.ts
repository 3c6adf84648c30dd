import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

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
}

/** Port: where request log entries are kept. */
export abstract class RequestLogStore {
  /** Writes all entries, durably, or none. */
  abstract append(entries: readonly NewRequestLogEntry[]): Promise<void>;
  /** Makes room for the entries of the coming days and lets go of those past retention. */
  abstract rotate(now: Date, retentionDays: number): Promise<void>;
}
