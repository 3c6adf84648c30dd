import { ModulesContainer } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { JobLock, RecurringJob } from '../../../src/infrastructure/database/index.js';
import { eventually } from '../../support/eventually.js';
import { logLines } from '../../support/logs/log-lines.js';
import { serveMetrics } from '../../support/logs/metrics.js';
import { useTestApp } from '../../support/test-app.js';

const POOL_SIZE = 5;

const service = useTestApp(
  { DATABASE_POOL_SIZE: String(POOL_SIZE), METRICS_PORT: '0' },
  { backgroundWork: true },
);

let metrics: Awaited<ReturnType<typeof serveMetrics>>;
beforeAll(async () => (metrics = await serveMetrics(service)));

/** The metadata of a method with `@Cron` or `@Interval`. */
const SCHEDULED = 'SCHEDULER_TYPE';

function providers(): object[] {
  const modules = [...service.app.get(ModulesContainer).values()];
  const instances = modules.flatMap((module) =>
    [...module.providers.values()].map(({ instance }) => instance as unknown),
  );
  return [...new Set(instances)].filter((each) => typeof each === 'object' && each !== null);
}

describe('Scheduled jobs', () => {
  it('need no connection of the pool for their locks', async () => {
    const lock = service.app.get(JobLock);
    const database = service.app.get(DataSource);
    const done: number[] = [];
    let allLocked: () => void;
    const locked = new Promise<void>((resolve) => (allLocked = resolve));
    let holders = 0;
    const jobs = Array.from({ length: POOL_SIZE }, (_, job) =>
      lock.runExclusively(`test job ${job}`, async () => {
        holders += 1;
        if (holders === POOL_SIZE) allLocked();
        await locked;
        await database.query('SELECT 1');
        done.push(job);
      }),
    );
    await Promise.all(jobs);
    expect(done.toSorted()).toEqual([0, 1, 2, 3, 4]);
  });

  it('let only one of several holders run', async () => {
    const lock = service.app.get(JobLock);
    await lock.runExclusively('test job', () =>
      lock.runExclusively('test job', () => Promise.reject(new Error('ran twice'))),
    );
    let hasRun = false;
    await lock.runExclusively('test job', async () => void (hasRun = true));
    expect(hasRun).toBe(true);
  });

  it('show why they are repeated: once in the log, in a metric, and for doctor', async () => {
    const { database } = service;
    const canceled = () =>
      service.app.get(DataSource).transaction(async (transaction) => {
        await transaction.query('SET LOCAL statement_timeout = 1');
        await transaction.query('SELECT pg_sleep(5)');
      });
    const jobs = providers().filter((instance) => instance instanceof RecurringJob);
    expect(jobs.length).toBeGreaterThanOrEqual(15);
    for (const job of jobs) {
      const work = job.constructor.name;
      const failures = async () => (await metrics.value('mcs_job_failures_total', { work })) ?? 0;
      // Otherwise, Prometheus would not see that the first failure increased the counter.
      expect([work, await metrics.value('mcs_job_failures_total', { work })]).toEqual([work, 0]);
      const before = logLines().length;
      let isFailing = true;
      const run = () =>
        Reflect.apply(Reflect.get(job, 'start'), job, [
          () => (isFailing ? canceled() : Promise.resolve()),
        ]) as Promise<void>;
      await eventually(`${work} fails twice`, async () => {
        await run();
        return (await failures()) >= 2;
      });
      isFailing = false;
      const logged = logLines()
        .slice(before)
        .filter((line) => JSON.stringify(line).includes('canceling statement'));
      expect([work, logged.length]).toEqual([work, 1]);
      await eventually(
        `the failure of ${work} is stored`,
        async () =>
          (
            await database.query('SELECT FROM job_failure WHERE job = $1 AND cause = $2', [
              work,
              'canceling statement due to statement timeout',
            ])
          ).length === 1,
      );
    }
  });

  it('report each item that fails, once', async () => {
    const job = providers().find((instance) => instance instanceof RecurringJob) as RecurringJob;
    const call = (method: string, ...given: unknown[]): Promise<void> =>
      Reflect.apply(Reflect.get(job, method), job, given);
    const failures = () => metrics.value('mcs_job_failures_total', { work: job.constructor.name });
    const [before, lines] = [(await failures()) ?? 0, logLines().length];
    const failing = (item: string): Promise<void> => {
      if (item === 'thrown') throw new Error('The thrown item failed');
      return item === 'good' ? Promise.resolve() : Promise.reject(new Error(`The ${item} item failed`));
    };
    await call('start', () => call('forEach', ['first', 'thrown', 'good', 'second'], failing));
    expect(await failures()).toBe(before + 3);
    const logged = JSON.stringify(logLines().slice(lines));
    for (const item of ['first', 'thrown', 'second'])
      expect(logged.split(`The ${item} item failed`)[1]).toBeDefined();
  });

  it('are all recurring jobs, whose failures are reported', () => {
    const scheduled = providers().filter((instance) => {
      const methods = Object.values(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(instance)));
      return methods.some(
        ({ value }) => typeof value === 'function' && Reflect.hasMetadata(SCHEDULED, value),
      );
    });
    expect(scheduled.length).toBeGreaterThanOrEqual(15);
    expect(scheduled.filter((instance) => !(instance instanceof RecurringJob))).toEqual([]);
  });

  it('start at different minutes of the hour', () => {
    const minutes = [...service.app.get(SchedulerRegistry).getCronJobs().values()].map(
      ({ cronTime }) => String(cronTime.source).split(' ')[1],
    );
    expect(minutes.length).toBeGreaterThanOrEqual(4);
    expect(new Set(minutes).size).toBe(minutes.length);
  });
});
