import { attemptsAllowedAfter, type FinishedAttempt, type Outcome } from './delivery.js';

const after = (fault: Outcome['fault'], attemptsAllowed: number): number =>
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
    expect(after(fault, before)).toBe(allowed),
  );
});
