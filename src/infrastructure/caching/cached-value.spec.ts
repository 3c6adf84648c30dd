import { setTimeout as pause } from 'node:timers/promises';
import { CachedValue } from './cached-value.js';

describe('CachedValue', () => {
  let loads: number;
  let failures: string[];
  const onFailure = (error: unknown): void => {
    failures.push((error as Error).message);
  };
  beforeEach(() => {
    loads = 0;
    failures = [];
  });

  it('loads once for concurrent readers until it is stale', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      await pause(1);
      return loads;
    };
    const reading = new CachedValue({ load, onFailure, freshFor: 200 });
    expect(await Promise.all([reading.read(), reading.read(), reading.read()])).toEqual([1, 1, 1]);
    expect(await reading.read()).toBe(1);
    // Stale after 200 ms, or after fifty times the load time.
    while ((await reading.read()) === 1) await pause(20);
    expect(loads).toBe(2);
    expect(failures).toEqual([]);
  });

  it('loads slow values less often', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      await pause(20);
      return loads;
    };
    const reading = new CachedValue({ load, onFailure, freshFor: 1 });
    await reading.read();
    // Fresh for fifty times the load time.
    await pause(100);
    expect(await reading.read()).toBe(1);
  });

  it('waits for one second at most and does not load again meanwhile', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      await pause(1_500);
      return loads;
    };
    const reading = new CachedValue({ load, onFailure });
    expect(await reading.read()).toBeUndefined();
    expect(failures).toEqual(['Reading took longer than 1000 ms']);
    expect(await reading.read()).toBe(1);
    expect(loads).toBe(1);
  });

  it('loads what is slow to fail less often, too', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      await pause(20);
      throw new Error('canceled');
    };
    const reading = new CachedValue({ load, onFailure });
    expect(await reading.read()).toBeUndefined();
    await pause(100);
    expect(await reading.read()).toBeUndefined();
    expect([loads, failures]).toEqual([1, ['canceled', 'canceled']]);
    // Kept for fifty times the load time, which is longer on a busy machine.
    for (; loads === 1; await pause(50)) await reading.read();
    expect(loads).toBe(2);
  });

  it('keeps a value that decides something no longer than it is fresh, however long loading takes', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      await pause(20);
      return loads;
    };
    const reading = new CachedValue({ load, onFailure, freshFor: 1, agePerLoadTime: 0 });
    expect(await reading.read()).toBe(1);
    await pause(10);
    expect(await reading.read()).toBe(2);
  });

  it('returns undefined after a failure and loads again', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      if (loads === 1) throw new Error('unavailable');
      return loads;
    };
    const reading = new CachedValue({ load, onFailure });
    expect(await reading.read()).toBeUndefined();
    expect(failures).toEqual(['unavailable']);
    await pause(50);
    expect(await reading.read()).toBe(2);
  });
});
