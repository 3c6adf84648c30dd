import { SchedulerRegistry } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { JobLock } from '../../src/infrastructure/database/index.js';
import { useTestApp } from '../support/test-app.js';

const POOL_SIZE = 5;

const service = useTestApp({ DATABASE_POOL_SIZE: String(POOL_SIZE) }, { backgroundWork: true });

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

  it('start at different minutes of the hour', () => {
    const minutes = [...service.app.get(SchedulerRegistry).getCronJobs().values()].map(
      ({ cronTime }) => String(cronTime.source).split(' ')[1],
    );
    expect(minutes.length).toBeGreaterThanOrEqual(4);
    expect(new Set(minutes).size).toBe(minutes.length);
  });
});
