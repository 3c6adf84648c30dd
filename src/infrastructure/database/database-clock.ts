import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { Clock, HOUR, MINUTE, SECOND } from '../time/index.js';

/**
 * Milliseconds by which the clocks may differ. Receivers reject signatures that are 5 minutes off; a much smaller difference
 * shows a clock that drifts.
 */
export const MAX_CLOCK_LEAD = 2 * SECOND;

/** Milliseconds by which the clocks may differ while anything is deleted because of its age. */
const MAX_LEAD_OF_DELETIONS = HOUR;

/** Nobody knows which of the clocks is wrong, and a backup would be the only way back. */
class ClocksDiffer extends Error {
  override readonly name = 'ClocksDiffer';

  constructor() {
    super(
      'The clocks of the database and of this machine differ by more than an hour, so nothing is deleted. Synchronize both clocks (NTP).',
    );
  }
}

const LEAD = new GaugeMetric({
  name: 'mcs_database_clock_lead_seconds',
  help: 'Seconds that the clock of the database is ahead of the clock of this process. Measured once per minute.',
});

/** Returns the milliseconds that the clock of the database is ahead, rounded towards zero by the time that the statement took. */
export async function clockLead(dataSource: DataSource, now: () => number): Promise<number> {
  const begin = now();
  const [{ time }] = await dataSource.query(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS time',
  );
  const end = now();
  return Math.round(Math.max(time - end, Math.min(time - begin, 0)));
}

/** Compares the clocks of the database and of this process, which signs webhooks and tokens with its own. */
@Injectable()
export class DatabaseClock implements OnApplicationBootstrap, OnApplicationShutdown {
  private lead: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    metrics.value(LEAD, () => this.lead && this.lead / SECOND);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.compare();
    this.timer = setInterval(() => void this.compare(), MINUTE).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Returns the present time, in milliseconds since the epoch, for work that deletes what is old: the time of the clock that is behind.
   *
   * @throws ClocksDiffer if the clocks differ by more than an hour
   */
  async timeForDeletion(): Promise<number> {
    const lead = await this.measure();
    if (Math.abs(lead) > MAX_LEAD_OF_DELETIONS) throw new ClocksDiffer();
    return this.clock.milliseconds() + Math.min(lead, 0);
  }

  private measure(): Promise<number> {
    return clockLead(this.dataSource, () => this.clock.milliseconds());
  }

  private async compare(): Promise<void> {
    // Others report that the database is unavailable.
    const lead = await this.measure().catch(() => undefined);
    const wasWrong = Math.abs(this.lead ?? 0) > MAX_CLOCK_LEAD;
    this.lead = lead;
    if (lead === undefined || wasWrong || Math.abs(lead) <= MAX_CLOCK_LEAD) return;
    new Logger('Database').warn(
      `The clock of the database is ${Math.abs(lead / SECOND).toFixed(1)} s ${lead > 0 ? 'ahead of' : 'behind'} the clock of this machine. Synchronize both clocks (NTP): receivers reject webhooks whose timestamp is 5 minutes off.`,
    );
  }
}
