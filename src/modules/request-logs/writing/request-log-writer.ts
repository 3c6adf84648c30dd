import { Injectable, Logger } from '@nestjs/common';
import {
  BatchedStatement,
  isDatabaseUnavailable,
  isMissingPartition,
  RowDropped,
} from '../../../infrastructure/database/index.js';
import {
  CounterMetric,
  GaugeMetric,
  Metrics,
  type CounterValue,
} from '../../../infrastructure/metrics/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import { RequestLogStore, type NewRequestLogEntry } from '../storage/request-log-store.js';

/** Milliseconds for which an answer waits for its entry: a slow log never fails the API. */
const TIMEOUT = 250;
const RETRY_AFTER = SECOND;
const SHUTDOWN_TIMEOUT = 5 * SECOND;
const ENTRIES_PER_STATEMENT = 1_000;
const STATEMENTS_AT_ONCE = 2;

const WRITTEN = new CounterMetric({
  name: 'mcs_request_log_entries_written_total',
  help: 'Entries of API calls that were committed. Those of webhooks are counted as attempts.',
});
const LOST = new CounterMetric({
  name: 'mcs_request_log_entries_lost_total',
  help: 'Entries that will never be written: `dropped` because the buffer was full, or `refused` by the store.',
  labels: ['reason'],
});
const WAITING = new GaugeMetric({
  name: 'mcs_request_log_entries_waiting',
  help: 'Entries that wait in memory for the store.',
});
const LIMIT = new GaugeMetric({
  name: 'mcs_request_log_entries_waiting_limit',
  help: 'Entries that may wait; one more drops the oldest.',
});

/**
 * Writes entries in batches. While the store is away they wait in a bounded buffer, and go in when it
 * is back.
 */
@Injectable()
export class RequestLogWriter {
  private readonly logger = new Logger('RequestLogs');
  private readonly entries: BatchedStatement<NewRequestLogEntry>;
  /** Entries that were lost because the buffer was full. */
  private dropped = 0;
  /** Whether the store did not take the last ones. */
  private isHeldUp = false;
  private readonly losses: CounterValue<'reason'>;

  constructor(store: RequestLogStore, configuration: RequestLogsConfiguration, metrics: Metrics) {
    const written = metrics.counter(WRITTEN);
    this.losses = metrics.counter(LOST);
    for (const reason of ['dropped', 'refused']) this.losses.inc({ reason }, 0);
    metrics.gauge(WAITING, () => [{ labels: {}, value: this.entries.waitingRows }]);
    metrics.gauge(LIMIT, () => [{ labels: {}, value: configuration.bufferedEntries }]);
    this.entries = new BatchedStatement({
      execute: async (entries) => {
        await store.append(entries);
        written.inc({}, entries.length);
        this.goesOn();
      },
      maxRows: ENTRIES_PER_STATEMENT,
      maxStatements: STATEMENTS_AT_ONCE,
      maxWaiting: configuration.bufferedEntries,
      retryAfter: (error) => this.retryAfter(error),
    });
  }

  /** Resolves when the entry is committed, and after 250 ms at the latest. Never rejects. */
  write(entry: NewRequestLogEntry): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, TIMEOUT);
      this.entries.enqueue(entry, (error) => {
        clearTimeout(timer);
        if (error !== undefined) this.lost(error);
        resolve();
      });
    });
  }

  /** Resolves when no entry waits any more, and after 5 s at the latest. */
  async flush(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SHUTDOWN_TIMEOUT);
    });
    await Promise.race([this.entries.idle(), patience]);
    clearTimeout(timer);
  }

  private lost(error: unknown): void {
    if (!(error instanceof RowDropped)) {
      this.losses.inc({ reason: 'refused' });
      this.logger.error('An entry could not be written', error);
      return;
    }
    // The first one is news; after that a line now and then.
    if (this.dropped % 10_000 === 0) {
      this.logger.error('The buffer is full: entries are being dropped', { dropped: this.dropped });
    }
    this.dropped += 1;
    this.losses.inc({ reason: 'dropped' });
  }

  private retryAfter(error: unknown): number | undefined {
    if (isMissingPartition(error)) return 0;
    if (!isDatabaseUnavailable(error)) return undefined;
    if (!this.isHeldUp) this.logger.warn(`Entries wait in memory: ${(error as Error).message}`);
    this.isHeldUp = true;
    return RETRY_AFTER;
  }

  private goesOn(): void {
    // On a disk that is nearly full some still find room.
    if (this.entries.waitingRows > 0) return;
    if (this.isHeldUp) this.logger.log('Entries are written again');
    this.isHeldUp = false;
  }
}
