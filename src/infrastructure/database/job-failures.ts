import { Injectable } from '@nestjs/common';
import { DataSource, MoreThan } from 'typeorm';
import { CounterMetric, Metrics, type CounterValue } from '../metrics/index.js';
import { Clock, HOUR, MINUTE } from '../time/index.js';
import { causeOf } from './sql-state.js';
import { JobFailure, MAX_CAUSE_LENGTH } from './job-failure.entity.js';

const FAILURES = new CounterMetric({
  name: 'mcs_job_failures_total',
  help: 'Failures of background work, which is repeated. The log and the command `doctor` show the causes.',
  labels: ['work'],
});

/** Milliseconds for which `doctor` shows a cause. */
const KNOWN_FOR = HOUR;
/** Milliseconds after which a cause is logged again: less than the pause of hourly work. */
const LOGGED_AFTER = 55 * MINUTE;
/** Causes that a process remembers. */
const MAX_CAUSES = 100;

/** The file in an error about a full disk. Each table and index has another, but the cause is the same. */
const DATA_FILE = / file "[^"]*\/\d+(?:\.\d+)?"/g;

/** Counts and stores why background work fails, so that it does not stop in silence while it is repeated. */
@Injectable()
export class JobFailures {
  private readonly counter: CounterValue<'work'>;
  private readonly reportedAt = new Map<string, number>();
  /** Jobs with the cause that is being stored: while the database is unavailable, that takes long. */
  private readonly storing = new Set<string>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.counter = metrics.counter(FAILURES);
  }

  /** Creates the series of the work: a series that begins with the first failure would hide it from alerts. */
  watch(work: object): void {
    this.counter.inc({ work: work.constructor.name }, 0);
  }

  /**
   * @param work does the job; its class is the name of the job
   * @returns whether the cause has to be logged, because it was not reported within the last hour
   */
  report(work: object, error: unknown): boolean {
    const job = work.constructor.name;
    this.counter.inc({ work: job });
    const withoutFile = (text: string): string => text.replaceAll(DATA_FILE, ' file');
    void this.store(job, withoutFile(causeOf(error)).slice(0, MAX_CAUSE_LENGTH));
    const cause = `${job}: ${withoutFile(String(error))}`;
    const now = performance.now();
    if (now - (this.reportedAt.get(cause) ?? -Infinity) < LOGGED_AFTER) return false;
    if (this.reportedAt.size >= MAX_CAUSES) this.reportedAt.clear();
    this.reportedAt.set(cause, now);
    return true;
  }

  /** Returns the causes of the last hour, in all processes. */
  recent(): Promise<JobFailure[]> {
    const lastAt = MoreThan(new Date(this.clock.milliseconds() - KNOWN_FOR));
    return this.dataSource
      .getRepository(JobFailure)
      .find({ where: { lastAt }, order: { job: 'ASC', cause: 'ASC' } });
  }

  /** Without the transaction of the job, which has failed. */
  private async store(job: string, cause: string): Promise<void> {
    const key = `${job}: ${cause}`;
    if (this.storing.has(key) || this.storing.size >= MAX_CAUSES) return;
    this.storing.add(key);
    const statement = `INSERT INTO job_failure (job, cause, first_at, last_at) VALUES ($1, $2, $3, $3)
                       ON CONFLICT (job, cause) DO UPDATE SET last_at = excluded.last_at`;
    await this.dataSource.query(statement, [job, cause, this.clock.now()]).catch(() => undefined);
    this.storing.delete(key);
  }
}
