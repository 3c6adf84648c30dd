import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { isUUID } from 'class-validator';
import {
  BatchedStatement,
  isMissingPartition,
  isTransientFailure,
  JobFailures,
  RowDropped,
} from '../../../infrastructure/database/index.js';
import { ErasedUsers } from '../../../infrastructure/erasure/index.js';
import { RequestRecorder, type CompletedRequest } from '../../../infrastructure/http/index.js';
import {
  CounterMetric,
  GaugeMetric,
  Metrics,
  type CounterValue,
} from '../../../infrastructure/metrics/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import {
  isMissing,
  MAX_EXTERNAL_USER_ID_LENGTH,
  validateText,
} from '../../../infrastructure/validation/index.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import { RequestLogRepository } from '../storage/request-log.repository.js';
import { anonymized, type NewRequestLogEntry } from '../request-log-entry.js';
import { EntrySpool } from './entry-spool.js';

/** Maximum milliseconds to delay a response until its entry is written. A slow database must not slow down the API. */
const TIMEOUT = 250;
const RETRY_DELAY = SECOND;
/** Maximum milliseconds that a shutdown waits for entries that no statement contains yet. */
const WAITING_ENTRIES_TIMEOUT = 5 * SECOND;
const ENTRIES_PER_STATEMENT = 1_000;
const CONCURRENT_STATEMENTS = 2;
/** Number of dropped entries for each log line that reports them. */
const DROPS_PER_LOG_LINE = 10_000;

const WRITTEN = new CounterMetric({
  name: 'mcs_request_log_entries_written_total',
  help: 'Committed request log entries for API requests. Webhook deliveries have their own metric.',
});
const LOST = new CounterMetric({
  name: 'mcs_request_log_entries_lost_total',
  help: 'Entries that were lost: `dropped` because the buffer was full, `refused` by the database, or `unsaved` because they could not be written to the log or to a file before the process ended.',
  labels: ['reason'],
});
const NOT_AWAITED = new CounterMetric({
  name: 'mcs_request_log_responses_without_entry_total',
  help: 'Responses that were sent before their request log entry was committed, because the database took longer than 250 ms. The entry is lost if the process is killed before it is written.',
});
const WAITING = new GaugeMetric({
  name: 'mcs_request_log_entries_waiting',
  help: 'Entries that wait in memory to be written.',
});
const LIMIT = new GaugeMetric({
  name: 'mcs_request_log_entries_waiting_limit',
  help: 'Maximum number of waiting entries. When the buffer is full, a new entry replaces the oldest.',
});

const FILES = new GaugeMetric({
  name: 'mcs_request_log_files',
  help: 'Files in `DATA_DIR/request-log`: `waiting` to be written to the log, or `refused`, which stay until an operator removes them.',
  labels: ['state'],
});

/**
 * Writes an entry for each platform request of a client, in batches. While the database is unavailable, entries wait
 * in a bounded buffer.
 */
@Injectable()
export class RequestLogWriter extends RequestRecorder {
  private readonly logger = new Logger('RequestLogs');
  private readonly entries: BatchedStatement<NewRequestLogEntry>;
  private droppedEntries = 0;
  private isStoreUnavailable = false;
  private readonly losses: CounterValue<'reason'>;
  private readonly notAwaited: CounterValue<never>;

  @Inject()
  private readonly failures!: JobFailures;

  constructor(
    repository: RequestLogRepository,
    configuration: RequestLogsConfiguration,
    metrics: Metrics,
    private readonly spool: EntrySpool,
    erased: ErasedUsers,
    private readonly clock: Clock,
  ) {
    super();
    const written = metrics.counter(WRITTEN);
    this.losses = metrics.counter(LOST);
    this.notAwaited = metrics.counter(NOT_AWAITED);
    for (const reason of ['dropped', 'refused', 'unsaved']) this.losses.inc({ reason }, 0);
    metrics.value(WAITING, () => this.entries.waitingRows);
    metrics.value(LIMIT, () => configuration.bufferedEntries);
    const files = metrics.cached('request log files', { load: () => spool.count(), freshFor: MINUTE });
    metrics.gauge(FILES, async () =>
      Object.entries((await files.read()) ?? {}).map(([state, value]) => ({ labels: { state }, value })),
    );
    this.entries = new BatchedStatement({
      execute: async (entries) => {
        await repository.append(await erased.pseudonymize(entries, anonymized));
        written.inc({}, entries.length);
        this.noteRecovery();
      },
      maxRows: ENTRIES_PER_STATEMENT,
      maxStatements: CONCURRENT_STATEMENTS,
      maxWaiting: configuration.bufferedEntries,
      retryAfter: (error) => this.retryAfter(error),
    });
  }

  record({ clientId, environment, method, path, body, ip, ...request }: CompletedRequest): Promise<void> {
    return this.write({
      clientId,
      environment,
      createdAt: this.clock.now(),
      type: 'request',
      method,
      path,
      url: null,
      event: null,
      statusCode: request.statusCode,
      latencyMilliseconds: request.latencyMilliseconds,
      sessionId: request.sessionId ?? sessionIdOf(body),
      taskId: null,
      externalUserId: request.externalUserId === undefined ? externalUserIdOf(body) : request.externalUserId,
      tool: request.tool ?? null,
      agent: request.agent ?? null,
      apiKey: request.apiKey ?? null,
      secretVersion: request.secretVersion ?? null,
      ip: ip || null,
      userAgent: request.userAgent || null,
      requestId: request.requestId,
      ...errorOf(request),
    });
  }

  /** Resolves when the entry is committed or after 250 ms, whichever comes first. Never rejects. */
  write(entry: NewRequestLogEntry): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.notAwaited.inc({});
        resolve();
      }, TIMEOUT);
      this.entries.enqueue(entry, (error) => {
        clearTimeout(timer);
        if (error !== undefined) this.noteLoss(error);
        resolve();
      });
    });
  }

  /**
   * Resolves when all entries are written to the log, or to a file. Entries that wait for a statement go to the file after 5 s, and
   * those of running statements at the deadline, because the database may yet commit them.
   */
  async close(deadline: number): Promise<void> {
    const left = (): number => Math.max(0, deadline - performance.now());
    await this.idle(Math.min(WAITING_ENTRIES_TIMEOUT, left() / 2));
    await this.save(this.entries.stop());
    await this.idle(left());
    await this.save(this.entries.abandon());
  }

  private async idle(timeoutMilliseconds: number): Promise<void> {
    const finished = new AbortController();
    const timeout = pause(timeoutMilliseconds, undefined, { signal: finished.signal }).catch(() => undefined);
    await Promise.race([this.entries.idle(), timeout]);
    finished.abort();
  }

  private async save(entries: readonly NewRequestLogEntry[]): Promise<void> {
    if (entries.length === 0) return;
    let lost = entries.length;
    try {
      lost = await this.spool.save(entries);
      const saved = entries.length - lost;
      this.logger.warn(
        `${entries.length} request log entries could not be written to the database: ${saved} are saved in DATA_DIR, and written after the next start.`,
      );
    } catch (error) {
      this.logger.error('Request log entries could not be saved in DATA_DIR', error);
    }
    if (lost === 0) return;
    this.losses.inc({ reason: 'unsaved' }, lost);
    this.logger.error(`${lost} request log entries are lost`);
  }

  private noteLoss(error: unknown): void {
    if (!(error instanceof RowDropped)) {
      this.losses.inc({ reason: 'refused' });
      this.logger.error('A request log entry could not be written', error);
      return;
    }
    if (this.droppedEntries % DROPS_PER_LOG_LINE === 0) {
      this.logger.error('The buffer is full: entries are being dropped', { dropped: this.droppedEntries });
    }
    this.droppedEntries += 1;
    this.losses.inc({ reason: 'dropped' });
  }

  private retryAfter(error: unknown): number | undefined {
    if (isMissingPartition(error)) return 0;
    if (!isTransientFailure(error)) return undefined;
    if (this.failures.report(this, error) || !this.isStoreUnavailable) {
      this.logger.warn(`Request log entries are waiting in memory: ${(error as Error).message}`);
    }
    this.isStoreUnavailable = true;
    return RETRY_DELAY;
  }

  private noteRecovery(): void {
    // Report recovery only when no entry waits: on an almost full disk, some statements succeed and others fail.
    if (this.entries.waitingRows > 0) return;
    if (this.isStoreUnavailable) this.logger.log('Writing request log entries has resumed');
    this.isStoreUnavailable = false;
  }
}

/** Characters of a message. Some messages list all values that are possible. */
const MAX_MESSAGE_LENGTH = 500;

function errorOf({
  statusCode,
  error,
}: Pick<CompletedRequest, 'statusCode' | 'error'>): Pick<NewRequestLogEntry, 'errorCode' | 'errorMessage'> {
  if (statusCode < 400) return {};
  const { code = null, message = null } = error ?? {};
  return { errorCode: code, errorMessage: message?.slice(0, MAX_MESSAGE_LENGTH) ?? null };
}

/** Returns the session that the body names, whether or not it exists. */
function sessionIdOf(body: unknown): string | null {
  const value = (body as { session_id?: unknown } | undefined)?.session_id;
  return isUUID(value) ? (value as string) : null;
}

/**
 * Returns the user that the body names, if the value can be stored. Rejected requests are logged with their user, too.
 */
function externalUserIdOf(body: unknown): string | null {
  const value = (body as { external_user_id?: unknown } | undefined)?.external_user_id;
  if (isMissing(value)) return null;
  if (validateText('', value, MAX_EXTERNAL_USER_ID_LENGTH) !== undefined) return null;
  return value as string;
}
