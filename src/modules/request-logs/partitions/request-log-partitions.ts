import { Injectable } from '@nestjs/common';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { RequestLogStore, type RequestLogPart } from '../storage/request-log-store.js';

/** How the log is laid out, and a sentence for the operator about each thing that is not as it should be. */
export interface PartitionReport {
  readonly partitions: readonly RequestLogPart[];
  readonly problems: readonly string[];
}

/** Looks whether rotation has done its work. */
@Injectable()
export class RequestLogPartitions {
  constructor(
    private readonly store: RequestLogStore,
    private readonly clock: Clock,
  ) {}

  async inspect(): Promise<PartitionReport> {
    const partitions = await this.store.parts();
    const now = this.clock.milliseconds();
    const strays = countStrays(partitions);
    return {
      partitions,
      problems: [
        ...lacking(partitions, 'today', new Date(now)),
        ...lacking(partitions, 'tomorrow', new Date(now + DAY)),
        ...(strays > 0
          ? [
              `The default partition holds entries of days that have no partition of their own: ${strays}. ` +
                'The background work was down for days, or the clock of a process is wrong.',
            ]
          : []),
      ],
    };
  }
}

/** Entries that found no partition of their day. */
export function countStrays(partitions: readonly RequestLogPart[]): number {
  return partitions.find(({ from }) => from === null)?.entries ?? 0;
}

function lacking(partitions: readonly RequestLogPart[], name: string, time: Date): string[] {
  const isThere = partitions.some(({ from, to }) => from && to && from <= time && time < to);
  const day = time.toISOString().slice(0, 10);
  return isThere
    ? []
    : [`There is no partition for ${name}, ${day}. A process that does the background work makes it.`];
}
