import { adaptWidth, type EndpointWidth } from '../../../../test/support/webhooks/adapted-width.js';
import { WIDTH_RULE } from './endpoint-width.js';

const MAX_WIDTH = 100;

/** Returns the same numbers from 0 to 1 on each run (mulberry32). */
function randomSource(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A lane whose receiver takes 1 ms. `fails` gets the number of the attempt among those in flight. */
function openLane(fails: (position: number) => boolean): {
  settle(inFlight: number): void;
  readonly width: number;
  readonly failures: number;
  readonly attempts: number;
} {
  let lane: EndpointWidth = {
    width: WIDTH_RULE.startWidth,
    ceiling: null,
    baseline: null,
    usualFailures: 0,
    allowedFailures: 0,
  };
  let [consecutiveFailures, failures, attempts] = [0, 0, 0];
  return {
    settle(inFlight) {
      const failed = Array.from({ length: inFlight }, (_, index) => fails(index + 1)).filter(Boolean).length;
      const succeeded = inFlight - failed;
      lane = adaptWidth(lane, { succeeded, failed, latency: 1, inFlight, consecutiveFailures }, MAX_WIDTH);
      consecutiveFailures = succeeded > 0 ? 0 : consecutiveFailures + failed;
      failures += failed;
      attempts += inFlight;
    },
    get width() {
      return Math.floor(lane.width);
    },
    get failures() {
      return failures;
    },
    get attempts() {
      return attempts;
    },
  };
}

describe('adaptWidth()', () => {
  it.each([1, 2, 5])(
    'sends a backlog to a receiver that refuses %i %% of attempts under any load',
    (percent) => {
      const rounds = [1, 2, 3, 4, 5].map((seed) => {
        const random = randomSource(seed);
        const lane = openLane(() => random() < percent / 100);
        // Few events arrive, so one or two attempts are in flight.
        for (let event = 0; event < 1_000; event += 1) lane.settle(1 + (event % 2));
        const before = lane.attempts;
        let settlements = 0;
        for (; lane.attempts < before + 1_500; settlements += 1) lane.settle(lane.width);
        return settlements;
      });
      // With 4 attempts in flight, 375 settlements would be necessary.
      expect(rounds.toSorted((left, right) => left - right)[2]).toBeLessThan(150);
    },
  );

  it.each([3, 10, 40])(
    'learns the limit of a receiver that refuses more than %i requests at once',
    (limit) => {
      const lane = openLane((position) => position > limit);
      while (lane.attempts < 5_000) lane.settle(lane.width);
      expect(lane.failures / lane.attempts).toBeLessThan(0.04);
      expect(lane.width).toBeGreaterThanOrEqual(limit * 0.7);
    },
  );

  it('does not take the failures of an outage for usual ones', () => {
    let isDown = true;
    const lane = openLane((position) => isDown || position > 10);
    for (let attempt = 0; attempt < 100; attempt += 1) lane.settle(1);
    isDown = false;
    const before = lane.failures;
    while (lane.attempts < 5_000) lane.settle(lane.width);
    expect((lane.failures - before) / lane.attempts).toBeLessThan(0.04);
  });
});
