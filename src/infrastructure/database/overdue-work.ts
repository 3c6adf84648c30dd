import { Injectable } from '@nestjs/common';
import { And, DataSource, IsNull, LessThan, Not, type FindOptionsWhere, type ObjectLiteral } from 'typeorm';
import type { CachedValue } from '../caching/index.js';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { Clock, HOUR, MINUTE, SECOND } from '../time/index.js';
import { Transaction } from './transaction.js';

const OVERDUE = new GaugeMetric({
  name: 'mcs_work_overdue_seconds',
  help: 'Seconds for which the oldest part of this work of the service has been due, or has waited for somebody; 0 if no part has. Covers all processes: take the maximum, not the sum.',
  labels: ['work'],
});

/** Milliseconds for which work may be due before `doctor` and the alerts report it. */
export const OVERDUE_AFTER = HOUR;

const DUE_SINCE = Symbol('due since');

interface DueRows {
  readonly work: string;
  readonly property: string;
  readonly where: object;
  readonly delay: number;
}

/**
 * Reports the rows of the entity as work that is overdue, from the time in the column on, in a metric and in `doctor`.
 *
 * @param work the value of the label, which docs/runbooks.md explains
 * @param where the rows that wait; by default, all whose column is not null
 * @param delay milliseconds after the time in the column
 */
export function DueSince<Row extends ObjectLiteral>(
  work: string,
  where: FindOptionsWhere<Row> = {},
  delay = 0,
): (prototype: Row, property: string) => void {
  return (prototype, property) => {
    const entity = prototype.constructor;
    const earlier = (Reflect.getMetadata(DUE_SINCE, entity) ?? []) as DueRows[];
    Reflect.defineMetadata(DUE_SINCE, [...earlier, { work, property, where, delay }], entity);
  };
}

/** Everything that the service does by itself and that can stop or fall behind without anybody noticing. */
@Injectable()
export class OverdueWork {
  private readonly since = new Map<string, CachedValue<Date | null>>();

  constructor(
    private readonly metrics: Metrics,
    private readonly transaction: Transaction,
    private readonly clock: Clock,
    dataSource: DataSource,
  ) {
    for (const { target } of dataSource.entityMetadatas as { target: object }[])
      for (const rows of (Reflect.getMetadata(DUE_SINCE, target) ?? []) as DueRows[])
        this.add(rows.work, () => this.oldest(target, rows));
    metrics.gauge(OVERDUE, async () =>
      [...(await this.read())].map(([work, overdue]) => ({ labels: { work }, value: overdue / SECOND })),
    );
  }

  /** @param load returns since when the work is due, or will be; null if there is none */
  add(work: string, load: () => Promise<Date | null>): void {
    this.since.set(work, this.metrics.cached(`overdue work (${work})`, { load, freshFor: MINUTE }));
  }

  /** Returns for how many milliseconds each work has been due, without work about which nothing can be read. */
  async read(): Promise<ReadonlyMap<string, number>> {
    // At the same time: a database that hangs must not let the metrics wait for each work.
    const read = await Promise.all(
      [...this.since].map(async ([work, cached]) => [work, await cached.read()] as const),
    );
    const now = this.clock.milliseconds();
    return new Map(
      read.flatMap(([work, since]) =>
        since === undefined ? [] : [[work, since ? Math.max(now - since.getTime(), 0) : 0]],
      ),
    );
  }

  private async oldest(entity: object, { property, where, delay }: DueRows): Promise<Date | null> {
    const isDue = And(Not(IsNull()), LessThan(new Date(this.clock.milliseconds() - delay)));
    const found = await this.transaction.manager.findOne(entity as never, {
      select: { [property]: true },
      where: { ...where, [property]: isDue },
      order: { [property]: 'ASC' },
    });
    return found && new Date((found[property] as Date).getTime() + delay);
  }
}
