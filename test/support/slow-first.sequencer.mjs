import TestSequencer from '@jest/test-sequencer';

/** Small files that take long. Without cached durations, Jest would start them last and then wait for them. */
const SLOW = /\b(?:extending|documents|processes|commands|fuzz)\.spec\.ts$/;

export default class SlowFirstSequencer extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((left, right) => SLOW.test(right.path) - SLOW.test(left.path));
  }
}
