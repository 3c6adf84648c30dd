import TestSequencer from '@jest/test-sequencer';

/** Files that take long for their size. Without cached durations, Jest starts large files first, and would wait for these. */
const SLOW =
  /\b(?:replicas|extending|documents|processes|(?:account|device|swagger)-browser|metrics|commands|slow-clients|fuzz|embedded-postgres)\.spec\.ts$/;

export default class SlowFirstSequencer extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((left, right) => SLOW.test(right.path) - SLOW.test(left.path));
  }
}
