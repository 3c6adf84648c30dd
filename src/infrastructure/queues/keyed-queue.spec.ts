import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedQueue } from './keyed-queue.js';

describe('KeyedQueue', () => {
  it('runs at most the given amount of work per key at a time, in order', async () => {
    const queue = new KeyedQueue(2);
    const running = new Map([
      ['a', 0],
      ['b', 0],
    ]);
    const peaks = new Map(running);
    const finished: number[] = [];
    const work = (key: string, index: number) =>
      queue.run(key, async () => {
        const now = (running.get(key) ?? 0) + 1;
        running.set(key, now);
        peaks.set(key, Math.max(peaks.get(key) ?? 0, now));
        await nextTurn();
        running.set(key, now - 1);
        if (key === 'a') finished.push(index);
      });
    await Promise.all(Array.from({ length: 40 }, (_, index) => work(index % 2 ? 'b' : 'a', index)));
    expect([...peaks.values()]).toEqual([2, 2]);
    expect(finished).toEqual(Array.from({ length: 20 }, (_, index) => 2 * index));
  });

  it('continues after work that fails', async () => {
    const queue = new KeyedQueue(1);
    const failing = Array.from({ length: 3 }, () =>
      queue.run('a', () => Promise.reject(new Error('a failure'))),
    );
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(
      Array(3).fill('rejected'),
    );
    expect(await queue.run('a', () => Promise.resolve('done'))).toBe('done');
  });

  it('refuses work if too much of its key is waiting', async () => {
    const queue = new KeyedQueue(1);
    let finish = (): void => undefined;
    const first = new Promise<void>((resolve) => (finish = resolve));
    const accepted = Array.from({ length: 1_001 }, () => queue.run('a', () => first));
    await expect(queue.run('a', () => first)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await queue.run('b', () => Promise.resolve('other'))).toBe('other');
    finish();
    await Promise.all(accepted);
  });
});
