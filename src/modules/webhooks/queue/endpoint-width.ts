/**
 * The numbers of the rule that adapts the number of concurrent attempts to an endpoint; docs/decisions/0019-adaptive-endpoint-width.md
 * gives the reasons. `sql/settle-attempts.ts` applies the rule to many lanes in one statement.
 */
export const WIDTH_RULE = {
  /** Concurrent attempts to an endpoint of which nothing is known. */
  startWidth: 4,
  /** How much a success widens a lane, or narrows it while the receiver is slow, at most. */
  gain: 0.5,
  /** How many times the baseline the latency may be before the lane narrows. */
  toleratedSlowness: 2,
  /** Milliseconds. Below this, latency says nothing about the load of the receiver. */
  minBaseline: 20,
  /** Milliseconds. Averages of a receiver that always takes 0 ms would become too small for PostgreSQL, which then refuses them. */
  leastBaseline: 1,
  /** Number of successes over which the baseline is averaged. */
  successesToLearn: 8,
  /** The share of the width that remains after a failure. */
  keptPerFailure: 0.8,
  /** How fast the ceiling rises with each success, as an exponent. */
  ceilingGrowth: 0.005,
  /** Attempts in flight that are not too many for a receiver. If attempts fail then, the reason is another one. */
  fewInFlight: 3,
  /** Number of attempts over which the share of such failures is averaged. */
  attemptsToLearn: 50,
  /** The largest share that the rule believes, and the smallest one that is not 0: PostgreSQL refuses numbers that are too small. */
  maxUsualFailures: 0.2,
  leastUsualFailures: 0.0001,
  /** How many times the usual failures a lane may have without narrowing, and how many at once. */
  toleratedFailures: 1.5,
  maxAllowedFailures: 5,
  /**
   * Consecutive failures after which an endpoint gets one attempt at a time, with a pause before each unless its last
   * success is recent.
   */
  failuresUntilNarrow: 5,
} as const;
