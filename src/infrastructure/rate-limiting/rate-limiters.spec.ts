import { setTimeout as pause } from 'node:timers/promises';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { LoadedConfiguration } from '../config/index.js';
import type { Redis } from '../redis/index.js';
import { HOUR, MINUTE } from '../time/index.js';
import { CountedLimit, RateLimiters, type RateLimitRejections } from './rate-limiters.js';

const QUOTA = { name: 'trial', requests: 2, seconds: 60 };

describe('CountedLimit', () => {
  it('rounds the seconds until the limit starts anew up', async () => {
    const limit = new CountedLimit(
      QUOTA,
      new RateLimiterMemory({ points: 2, duration: 60 }),
      () => undefined,
    );
    expect(await limit.consume('client')).toEqual({ remaining: 1, reset: 60 });
    await pause(5);
    expect(await limit.consume('client')).toEqual({ remaining: 0, reset: 60 });
    expect(await limit.consume('client')).toEqual({ remaining: 0, reset: 60, retryAfter: 60 });
  });

  it('keeps at most 128 characters of each subject, and still counts long subjects separately', async () => {
    const kept: string[] = [];
    const memory = new RateLimiterMemory({ points: 1, duration: 60 });
    const limiter = { consume: (key: string) => (kept.push(key), memory.consume(key)) };
    const limit = new CountedLimit(QUOTA, limiter, () => undefined);
    for (const end of ['a', 'b']) expect(await limit.count(`${'x'.repeat(16_000)}${end}`)).toBeUndefined();
    expect(await limit.count(`${'x'.repeat(16_000)}a`)).toBe(60);
    expect(await limit.count('x'.repeat(128))).toBeUndefined();
    expect(kept.map(({ length }) => length)).toEqual([44, 44, 44, 128]);
  });
});

describe('RateLimiters', () => {
  it('reject nothing for longer than a window without asking Redis, although the clock was ahead', async () => {
    let count = 0;
    const client = { rlflxIncr: () => Promise.resolve([(count += 1), MINUTE]) };
    const redis = { client, isConnected: true, inTime: <Reply>(reply: Promise<Reply>) => reply };
    const limit = new RateLimiters(
      redis as unknown as Redis,
      { of: () => () => undefined } as unknown as RateLimitRejections,
      {} as LoadedConfiguration,
    ).limit({ name: 'trial', requests: () => 1, seconds: 60 });
    const now = Date.now();
    const clock = import.meta.jest.spyOn(Date, 'now').mockReturnValue(now + HOUR);
    try {
      expect([await limit.count('client'), await limit.count('client')]).toEqual([undefined, 60]);
      expect(count).toBe(1);
      clock.mockReturnValue(now);
      count = 0;
      expect([await limit.count('client'), await limit.count('client')]).toEqual([undefined, 60]);
    } finally {
      clock.mockRestore();
    }
  });
});
