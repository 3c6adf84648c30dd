import { setTimeout as pause } from 'node:timers/promises';
import { CachedValue } from './cached-value.js';

describe('A reading that costs something', () => {
  let loads: number;
  let failures: string[];
  const onFailure = (error: unknown): void => {
    failures.push((error as Error).message);
  };
  beforeEach(() => {
    loads = 0;
    failures = [];
  });

  it('is had once, however many ask, until it is stale', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      await pause(1);
      return loads;
    };
    const reading = new CachedValue({ load, onFailure, freshFor: 200 });
    expect(await Promise.all([reading.read(), reading.read(), reading.read()])).toEqual([1, 1, 1]);
    expect(await reading.read()).toBe(1);
    // Stale after 200 ms, or after fifty times what it took.
    while ((await reading.read()) === 1) await pause(20);
    expect(loads).toBe(2);
    expect(failures).toEqual([]);
  });

  it('is asked for less often when it takes long', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      await pause(20);
      return loads;
    };
    const reading = new CachedValue({ load, onFailure, freshFor: 1 });
    await reading.read();
    await pause(500);
    expect(await reading.read()).toBe(1);
  });

  it('is not waited for longer than a second, and not begun again meanwhile', async () => {
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

  it('that fails is left out, and tried again', async () => {
    const load = async (): Promise<number> => {
      loads += 1;
      if (loads === 1) throw new Error('away');
      return loads;
    };
    const reading = new CachedValue({ load, onFailure });
    expect(await reading.read()).toBeUndefined();
    expect(failures).toEqual(['away']);
    expect(await reading.read()).toBe(2);
  });
});
