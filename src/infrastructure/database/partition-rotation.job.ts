import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import type { CachedValue } from '../caching/index.js';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { Clock, DAY, hourlyAt, MINUTE, SECOND } from '../time/index.js';
import {
  countMisplaced,
  DailyPartitions,
  type PartitionsOverview,
  type Retention,
} from './daily-partitions.js';
import { DatabaseClock } from './database-clock.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { OverdueWork } from './overdue-work.js';
import { RecurringJob } from './recurring-job.js';

const DAYS_AHEAD = new GaugeMetric({
  name: 'mcs_partitions_ahead',
  help: 'Number of future days that have a partition. The background work maintains 7.',
  labels: ['table'],
});
const OLDEST = new GaugeMetric({
  name: 'mcs_partitions_oldest_age_seconds',
  help: 'Seconds since the start of the oldest partition. If it exceeds the retention by a day, no process drops old partitions.',
  labels: ['table'],
});
const MISPLACED_ROWS = new GaugeMetric({
  name: 'mcs_partitions_default_in_use',
  help: '1 if the default partition holds rows, because their day had no partition.',
  labels: ['table'],
});

/** Milliseconds for which the start of a process waits for today's partitions, at most. */
const START_TIMEOUT = 5 * SECOND;

export interface PartitionedTable {
  readonly name: string;
  readonly retention: Retention;
  /** The name of the lock that only one process holds while it changes the partitions. */
  readonly lock: string;
  /** Deletes what depends on rows that are past retention. */
  readonly deleteDependents?: (now: Date, stopped: AbortSignal) => Promise<void>;
}

/** Creates the partitions of all tables in advance and drops those past retention, in one process at a time. */
@Injectable()
export class PartitionRotation extends RecurringJob implements OnApplicationBootstrap {
  private readonly logger = new Logger('Partitions');
  private readonly tables = new Map<PartitionedTable, CachedValue<PartitionsOverview>>();

  constructor(
    private readonly partitions: DailyPartitions,
    private readonly metrics: Metrics,
    private readonly configuration: DatabaseConfiguration,
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
    private readonly overdue: OverdueWork,
  ) {
    super('Partitions', 'The partitions are not complete');
    metrics.gauge(DAYS_AHEAD, () => this.read(({ daysAhead }) => daysAhead));
    const secondsSince = (time: Date): number => (this.clock.milliseconds() - time.getTime()) / SECOND;
    metrics.gauge(OLDEST, () => this.read(({ oldest }) => oldest && secondsSince(oldest)));
    metrics.gauge(MISPLACED_ROWS, () => this.read(({ hasMisplacedRows }) => Number(hasMisplacedRows)));
  }

  add(table: PartitionedTable): void {
    const load = () => this.partitions.overview(table.name, this.clock.now());
    this.tables.set(table, this.metrics.cached(`partitions of ${table.name}`, { load, freshFor: MINUTE }));
    const { days, expiryColumn } = table.retention;
    // The rows of a table with an expiry column decide themselves how long they are kept.
    if (expiryColumn === undefined)
      this.overdue.add(`old_partitions_of_${table.name}`, async () => {
        const { oldest } = await load();
        return oldest ? new Date(oldest.getTime() + (days + 1) * DAY) : null;
      });
  }

  /** Creates today's partitions in a new installation; until then, rows go to the default partitions. The rest may take hours. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.configuration.rotateOnStart) return;
    const now = this.clock.now();
    const creating = this.start(() =>
      this.ofAll(({ name, retention }) => this.partitions.createToday(name, now, retention)),
    );
    await Promise.race([creating, pause(START_TIMEOUT, undefined, { ref: false })]);
    void creating.then(() => (this.stopped.aborted ? undefined : this.run()));
  }

  @Cron(hourlyAt(5))
  run(): Promise<void> {
    return this.start(() => this.ofAll((table) => this.rotate(table)));
  }

  /** The shutdown waits for the rotation, which could take hours. */
  override beforeApplicationShutdown(): Promise<void> {
    this.partitions.stop();
    return super.beforeApplicationShutdown();
  }

  /** A table that fails or is slow must not keep the others from being maintained. */
  private async ofAll(work: (table: PartitionedTable) => Promise<void>): Promise<void> {
    const works = [...this.tables.keys()].map((table) =>
      this.lock.runExclusively(table.lock, () => work(table)),
    );
    const ended = await Promise.allSettled(works);
    await this.forEach(ended, async (each) => {
      if (each.status === 'rejected') throw each.reason;
    });
  }

  private async rotate({ name, retention, deleteDependents }: PartitionedTable): Promise<void> {
    await this.partitions.rotate(name, this.clock.now(), retention, async () => {
      const now = new Date(await this.databaseClock.timeForDeletion());
      await deleteDependents?.(now, this.stopped);
      return now;
    });
    const misplaced = countMisplaced(await this.partitions.status(name));
    // Rows of a table with an expiry column are not moved.
    if (misplaced > 0 && retention.expiryColumn === undefined)
      this.logger.warn('The default partition contains rows for days that have no partition', {
        table: name,
        rows: misplaced,
      });
  }

  private async read(valueOf: (overview: PartitionsOverview) => number | undefined) {
    const samples = [...this.tables].map(async ([{ name: table }, cached]) => {
      const overview = await cached.read();
      const value = overview && valueOf(overview);
      return value === undefined ? [] : [{ labels: { table }, value }];
    });
    return (await Promise.all(samples)).flat();
  }
}
