import { WIDTH_RULE } from '../../../src/modules/webhooks/queue/endpoint-width.js';

export interface EndpointWidth {
  readonly width: number;
  /** Null: the maximum width. */
  readonly ceiling: number | null;
  /** Milliseconds that the endpoint takes while few attempts are in flight; null if unknown. */
  readonly baseline: number | null;
  /** Share of the attempts that fail although few are in flight. */
  readonly usualFailures: number;
  /** Failures that will not narrow the lane, because so many are usual. */
  readonly allowedFailures: number;
}

/** Attempts to one endpoint that are settled together. */
export interface SettledAttempts {
  readonly succeeded: number;
  readonly failed: number;
  /** Mean milliseconds of the attempts that succeeded. */
  readonly latency: number;
  /** Attempts in flight before the settlement, including these. */
  readonly inFlight: number;
  /** Consecutive failures before the settlement. */
  readonly consecutiveFailures: number;
}

/**
 * The rule that adapts the number of concurrent attempts to an endpoint. `sql/settle-attempts.ts` computes the same for many lanes in
 * one statement, and `test/e2e/webhooks/endpoint-width.spec.ts` compares the two. The simulation in bench/ uses this function.
 */
export function adaptWidth(
  { width, ceiling, baseline, usualFailures, allowedFailures }: EndpointWidth,
  { succeeded, failed, latency, inFlight, consecutiveFailures }: SettledAttempts,
  maxWidth: number,
): EndpointWidth {
  const rule = WIDTH_RULE;
  if (succeeded === 0 && consecutiveFailures + failed >= rule.failuresUntilNarrow) {
    return { width: 1, ceiling: null, baseline, usualFailures: 0, allowedFailures: 0 };
  }
  const known = Math.max(baseline ?? latency, rule.leastBaseline);
  const slowness = latency / Math.max(known, rule.minBaseline);
  const gain = succeeded === 0 ? 0 : rule.gain * Math.max(-1, Math.min(rule.toleratedSlowness - slowness, 1));
  const isUsed = 2 * inFlight >= width;
  const growth = isUsed && gain > 0 ? Math.exp(rule.ceilingGrowth * succeeded) : 1;
  const raised = Math.min(maxWidth, (ceiling ?? maxWidth) * growth);
  const grown = isUsed || gain < 0 ? Math.min(raised, width + gain * succeeded) : width;
  const attempts = succeeded + failed;
  const allowed = Math.min(
    allowedFailures + rule.toleratedFailures * usualFailures * attempts,
    rule.maxAllowedFailures,
  );
  const unusual = Math.max(0, failed - Math.floor(allowed));
  const next = Math.max(1, grown * rule.keptPerFailure ** unusual);
  const learns = succeeded > 0 && (baseline === null || Math.max(width, inFlight) <= rule.startWidth);
  const weight = 1 - Math.exp(-succeeded / rule.successesToLearn);
  const change =
    (failed / Math.max(attempts, 1) - usualFailures) * (1 - Math.exp(-attempts / rule.attemptsToLearn));
  const usual =
    inFlight <= rule.fewInFlight ? Math.min(usualFailures + change, rule.maxUsualFailures) : usualFailures;
  return {
    width: next,
    ceiling: unusual > 0 ? next : raised,
    baseline: learns ? Math.max(known + (latency - known) * weight, rule.leastBaseline) : baseline,
    usualFailures: usual < rule.leastUsualFailures ? 0 : usual,
    allowedFailures: allowed - (failed - unusual),
  };
}
