import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { GaugeMetric, Metrics, type CachedValue } from '../metrics/index.js';
import { Clock, hourlyAt, MINUTE, SECOND } from '../time/index.js';
import { JobLock } from './advisory-lock.js';
import {
  countMisplaced,
  DailyPartitions,
  type PartitionsOverview,
  type Retention,
} from './daily-partitions.js';
import { DatabaseConfiguration } from './database.configuration.js';

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

export interface PartitionedTable {
  readonly name: string;
  readonly retention: Retention;
  /** The name of the lock that only one process holds while it changes the partitions. */
  readonly lock: string;
  /** Deletes what depends on rows that are past retention. */
  readonly deleteDependents?: (now: Date) => Promise<void>;
}

/** Creates the partitions of all tables in advance and drops those past retention, in one process at a time. */
@Injectable()
export class PartitionRotation implements OnApplicationBootstrap {
  private readonly logger = new Logger('Partitions');
  private readonly tables = new Map<PartitionedTable, CachedValue<PartitionsOverview>>();

  constructor(
    private readonly partitions: DailyPartitions,
    private readonly lock: JobLock,
    private readonly metrics: Metrics,
    private readonly configuration: DatabaseConfiguration,
    private readonly clock: Clock,
  ) {
    metrics.gauge(DAYS_AHEAD, () => this.read(({ daysAhead }) => daysAhead));
    const secondsSince = (time: Date): number => (this.clock.milliseconds() - time.getTime()) / SECOND;
    metrics.gauge(OLDEST, () => this.read(({ oldest }) => oldest && secondsSince(oldest)));
    metrics.gauge(MISPLACED_ROWS, () => this.read(({ hasMisplacedRows }) => Number(hasMisplacedRows)));
  }

  add(table: PartitionedTable): void {
    const load = () => this.partitions.overview(table.name, this.clock.now());
    this.tables.set(table, this.metrics.cached(`partitions of ${table.name}`, { load, freshFor: MINUTE }));
  }

  /** Creates today's partitions in a new installation; until then, rows go to the default partitions. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.configuration.rotateOnStart) await this.run();
  }

  @Cron(hourlyAt(5))
  async run(): Promise<void> {
    for (const table of this.tables.keys())
      await this.lock
        .runExclusively(table.lock, () => this.rotate(table))
        // A failure for one table must not keep the others from being maintained.
        .catch((error: unknown) => this.logger.error('The partitions could not be created', error));
  }

  private async rotate({ name, retention, deleteDependents }: PartitionedTable): Promise<void> {
    const now = this.clock.now();
    await deleteDependents?.(now);
    await this.partitions.rotate(name, now, retention);
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
