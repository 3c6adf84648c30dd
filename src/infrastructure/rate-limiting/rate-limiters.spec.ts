import { setTimeout as pause } from 'node:timers/promises';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { CountedLimit } from './rate-limiters.js';

describe('CountedLimit', () => {
  it('rounds the seconds until the limit starts anew up', async () => {
    const limit = new CountedLimit(new RateLimiterMemory({ points: 2, duration: 60 }), () => undefined);
    expect(await limit.consume('client')).toEqual({ remaining: 1, reset: 60 });
    await pause(5);
    expect(await limit.consume('client')).toEqual({ remaining: 0, reset: 60 });
    expect(await limit.consume('client')).toEqual({ remaining: 0, reset: 60, retryAfter: 60 });
  });
});
