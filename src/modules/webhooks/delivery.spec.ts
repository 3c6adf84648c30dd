import { attemptsAllowedAfter, delayUntilRetry, type FinishedAttempt, type Outcome } from './delivery.js';

const allowedAfter = (fault: Outcome['fault'], attemptsAllowed: number): number =>
  attemptsAllowedAfter({ delivery: { attemptsAllowed }, outcome: { fault } } as FinishedAttempt);

describe('attemptsAllowedAfter', () => {
  it.each([
    ['theirs', 3, 3],
    [undefined, 3, 3],
    ['ours', 3, 4],
    ['unknown', 19, 20],
    ['ours', 20, 20],
    ['ours', 1, 1],
    ['unknown', 1, 1],
  ] as const)('after a failure that is %s, %d attempts become %d', (fault, before, allowed) =>
    expect(allowedAfter(fault, before)).toBe(allowed),
  );
});

describe('delayUntilRetry', () => {
  const DELAYS = [180_000, 300_000];

  it.each([
    [1, 0, 180_000],
    [1, 1, 216_000],
    [2, 0, 300_000],
    [2, 0.5, 330_000],
  ])('after attempt %i with random value %d is %d ms', (attempts, random, delay) => {
    expect(delayUntilRetry({ attempts, allowed: 3 }, DELAYS, undefined, random)).toBe(delay);
  });

  it('grows to 15 minutes for a delivery that waits for its key, also without other delays', () => {
    const after = (attempts: number) => delayUntilRetry({ attempts, allowed: attempts + 1 }, [0], undefined);
    expect([20, 21, 25, 32, 32_000].map(after)).toEqual([0, 2_000, 32_000, 900_000, 900_000]);
  });

  it('is undefined after the last attempt', () => {
    expect(delayUntilRetry({ attempts: 3, allowed: 3 }, DELAYS, 1)).toBeUndefined();
    expect(delayUntilRetry({ attempts: 1, allowed: 1 }, DELAYS, 1)).toBeUndefined();
  });

  it('is extended by Retry-After up to a limit, and never shortened', () => {
    const after = (retryAfter: number) => delayUntilRetry({ attempts: 1, allowed: 3 }, DELAYS, retryAfter, 0);
    expect([after(1_000), after(400_000), after(1e9)]).toEqual([180_000, 400_000, 900_000]);
  });
});
