import { RateLimiterRes } from 'rate-limiter-flexible';
import { rateLimitKeyOfAddress } from '../http/index.js';
import { BoundedMemory, subjectAtAddress } from './bounded-memory.js';

const ATTACKER = '2001:db8';

describe('BoundedMemory', () => {
  const limiterOf = (duration = 60): BoundedMemory =>
    new BoundedMemory({ points: 2, duration }, { subjects: 100, subjectsOfNetwork: 10 });
  const isAllowed = async (limiter: BoundedMemory, subject: string): Promise<boolean> => {
    try {
      await limiter.consume(subject);
      return true;
    } catch (rejection) {
      expect(rejection).toBeInstanceOf(RateLimiterRes);
      return false;
    }
  };
  /** Sends a request from this many subscribers of a network. @returns how many were allowed */
  const flood = async (limiter: BoundedMemory, network: string, count: number): Promise<number> => {
    let allowed = 0;
    for (let subscriber = 0; subscriber < count; subscriber += 1) {
      const address = `${network}:${Math.floor(subscriber / 1_000)}:${subscriber % 1_000}::1`;
      if (await isAllowed(limiter, rateLimitKeyOfAddress(address))) allowed += 1;
    }
    return allowed;
  };

  it('counts the subscribers of a network that has too many together', async () => {
    const limiter = limiterOf();
    expect(await flood(limiter, ATTACKER, 1_000)).toBe(102);
    expect(limiter.dump().storage).toHaveLength(101);
  });

  it('neither lifts nor exceeds the limit of others meanwhile', async () => {
    const limiter = limiterOf();
    for (const known of ['203.0.113.9', '2001:db8:0:1::'])
      expect([await isAllowed(limiter, known), await isAllowed(limiter, known)]).toEqual([true, true]);
    await flood(limiter, ATTACKER, 1_000);
    for (const known of ['203.0.113.9', '2001:db8:0:1::'])
      expect(await isAllowed(limiter, known)).toBe(false);
    for (const other of ['203.0.113.10', '203.0.113.11', '2a00::', 'client'])
      expect(await Promise.all(Array.from({ length: 3 }, () => isAllowed(limiter, other)))).toEqual([
        true,
        true,
        false,
      ]);
  });

  it('counts all subjects separately again after their windows have ended', async () => {
    const limiter = limiterOf(0.05);
    await flood(limiter, ATTACKER, 1_000);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(await flood(limiter, ATTACKER, 10)).toBe(10);
    expect(limiter.dump().storage).toHaveLength(10);
  });

  it('finds the address of a subject that strangers have chosen', async () => {
    const limiter = limiterOf();
    for (let id = 0; id < 500; id += 1)
      for (const text of [`${id}`, `${'x'.repeat(16_000)}${id}`, `192.0.2.${id % 256} ${id}`])
        await isAllowed(limiter, subjectAtAddress(text, '203.0.113.9'));
    expect(limiter.dump().storage).toHaveLength(101);
    expect(subjectAtAddress('x'.repeat(16_000), `2001:db8:${'ffff:'.repeat(5)}ffff`).length).toBeLessThan(
      128,
    );
    expect(await isAllowed(limiter, '192.0.2.1')).toBe(true);
  });
});
