import { Injectable } from '@nestjs/common';
import {
  countMisplaced,
  DailyPartitions,
  type PartitionStatus,
} from '../../../infrastructure/database/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';

/** The partitions of the log, and a sentence for the operator about each problem. */
export interface PartitionReport {
  readonly partitions: readonly PartitionStatus[];
  readonly problems: readonly string[];
}

/** Checks whether the rotation has created the partitions. */
@Injectable()
export class RequestLogPartitions {
  constructor(
    private readonly daily: DailyPartitions,
    private readonly clock: Clock,
  ) {}

  async inspect(): Promise<PartitionReport> {
    const partitions = await this.daily.status('request_log');
    const now = this.clock.milliseconds();
    const days = { today: new Date(now), tomorrow: new Date(now + DAY) };
    const problems = Object.entries(days)
      .filter(([, time]) => !partitions.some(({ from, to }) => from && to && from <= time && time < to))
      .map(
        ([name, time]) =>
          `There is no partition for ${name}, ${time.toISOString().slice(0, 10)}. Start a process with ` +
          'BACKGROUND_WORK=on or worker.js; it creates the partition.',
      );
    const misplaced = countMisplaced(partitions);
    if (misplaced > 0)
      problems.push(
        `The default partition contains ${misplaced === 1 ? '1 entry' : `${misplaced} entries`} for days that ` +
          'have no partition. Check that a process runs the background work and that all clocks are correct.',
      );
    return { partitions, problems };
  }
}
