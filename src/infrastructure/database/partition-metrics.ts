import { Injectable } from '@nestjs/common';
import { GaugeMetric, Metrics, type CachedValue } from '../metrics/index.js';
import { Clock, MINUTE, SECOND } from '../time/index.js';
import { DailyPartitions, type PartitionsOverview } from './daily-partitions.js';

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

/** Metrics of tables that are partitioned by day. */
@Injectable()
export class PartitionMetrics {
  private readonly watched = new Map<string, CachedValue<PartitionsOverview>>();

  constructor(
    private readonly metrics: Metrics,
    private readonly partitions: DailyPartitions,
    private readonly clock: Clock,
  ) {
    metrics.gauge(DAYS_AHEAD, () => this.read(({ daysAhead }) => daysAhead));
    metrics.gauge(OLDEST, () => this.read(({ oldest }) => oldest && this.secondsSince(oldest)));
    metrics.gauge(MISPLACED_ROWS, () => this.read(({ hasMisplacedRows }) => Number(hasMisplacedRows)));
  }

  watch(table: string): void {
    const load = () => this.partitions.overview(table, this.clock.now());
    this.watched.set(table, this.metrics.cached(`partitions of ${table}`, { load, freshFor: MINUTE }));
  }

  private secondsSince(time: Date): number {
    return (this.clock.milliseconds() - time.getTime()) / SECOND;
  }

  private async read(valueOf: (overview: PartitionsOverview) => number | undefined) {
    const samples = [...this.watched].map(async ([table, cached]) => {
      const overview = await cached.read();
      const value = overview && valueOf(overview);
      return value === undefined ? [] : [{ labels: { table }, value }];
    });
    return (await Promise.all(samples)).flat();
  }
}
