import { WIDTH_RULE } from '../endpoint-width.js';
import { appendEntries } from '../../../request-logs/index.js';
import { INDEXES_ONLY } from './statement-parts.js';
import { PROBE_INTERVAL } from './lane.js';
import { Statement } from '../../../../infrastructure/database/index.js';

/** The result of an attempt, as far as the queue needs it. */
export interface Settlement {
  readonly deliveryId: string;
  readonly claimId: string;
  readonly endpointId: string;
  /** Null if the endpoint is not to blame: the process ended before the attempt did, or could not open a connection. */
  readonly succeeded: boolean | null;
  /** Milliseconds until the response, without the time to connect. */
  readonly latency: number;
  /** Milliseconds until the next attempt; null if this was the last one. */
  readonly retryIn: number | null;
  /** How many attempts the delivery has. */
  readonly allowed: number;
}

/**
 * Milliseconds for which a settlement waits for the log, whose partition an operator may have locked. It holds lanes meanwhile, and
 * others wait for these without a limit.
 */
export const LOG_TIMEOUT = 100;

interface LaneRules {
  readonly maxWidth: number;
  /** Milliseconds after a success during which failures do not throttle the lane. */
  readonly grace: number;
  /** Milliseconds to wait for the lock of a lane; 0 for no limit. */
  readonly laneTimeout: number;
}

interface SettledRow {
  /** The delivery of an attempt that has ended; null if there is none. */
  readonly id: string | null;
  /** Whether one of the lanes has further deliveries that are due. */
  readonly hasDueLane: boolean;
}

const { startWidth, gain, toleratedSlowness, minBaseline, leastBaseline, successesToLearn, keptPerFailure } =
  WIDTH_RULE;
const { ceilingGrowth, failuresUntilNarrow, fewInFlight, attemptsToLearn } = WIDTH_RULE;
const { maxUsualFailures, leastUsualFailures, toleratedFailures, maxAllowedFailures } = WIDTH_RULE;

/**
 * Ends attempts: finished deliveries leave the queue, the others become due again, and their lanes get room and another
 * width. From `signal` to `adapted`, the statement does what `adaptWidth()` of the tests does.
 *
 * An attempt has ended if its delivery is still claimed for it, or its endpoint was deleted. If another process has settled it, that
 * process has also logged it.
 *
 * Its wait for the log has a limit, which is set when all lanes are locked: `log_timeout` is evaluated for rows of `ended`, which are
 * read before an entry is written.
 *
 * Keeps a time in `failing_since` only if there were failures before: the previous release, which may still run, does not
 * reset it.
 *
 * @param log a part of the statement that writes the log entries of the attempts in `ended`
 */
const settleAttempts = (log: string): string => `
  WITH attempt AS MATERIALIZED (
         SELECT * FROM unnest($deliveryId::bigint[], $claimId::uuid[], $endpointId::uuid[], $succeeded::boolean[],
                              $retryIn::double precision[], $latency::double precision[], $allowed::integer[])
                  WITH ORDINALITY AS attempt (delivery_id, claim_id, endpoint_id, succeeded, retry_in, latency, allowed, position)
          WHERE ${INDEXES_ONLY} LIMIT cardinality($deliveryId)),
       lane AS MATERIALIZED (
         SELECT endpoint_id, COALESCE(adaptive_width, ${startWidth}) AS width,
                COALESCE(width_ceiling, $maxWidth::double precision) AS ceiling, baseline_ms AS baseline, usual_failures,
                allowed_failures, in_flight, consecutive_failures
           FROM webhook_lane
          WHERE endpoint_id = ANY ($endpointId)
            AND (SELECT set_config('lock_timeout', $laneTimeout::integer::text, true)) IS NOT NULL
          ORDER BY endpoint_id FOR UPDATE),
       settled AS MATERIALIZED (
         SELECT delivery.id, delivery.endpoint_id, succeeded, latency, allowed, position,
                now() + retry_in * interval '1 millisecond' AS due_at
           FROM lane
           JOIN attempt USING (endpoint_id)
          CROSS JOIN LATERAL (
                  SELECT id, endpoint_id FROM webhook_delivery
                   WHERE id = delivery_id AND claim_id = attempt.claim_id LIMIT 1 FOR UPDATE) delivery),
       ended AS MATERIALIZED (
         SELECT delivery_id, position,
                CASE WHEN (SELECT count(*) FROM lane) >= 0
                     THEN set_config('lock_timeout', '${LOG_TIMEOUT}', true) END AS log_timeout
           FROM attempt
          WHERE position IN (SELECT position FROM settled)
             OR (SELECT true FROM webhook_endpoint WHERE id = attempt.endpoint_id) IS NULL),${log}
       deleted AS (
         DELETE FROM webhook_delivery WHERE id = ANY (ARRAY(SELECT id FROM settled WHERE due_at IS NULL))),
       postponed AS (
         UPDATE webhook_delivery
            SET (due_at, attempts_allowed) = (SELECT due_at, allowed FROM settled WHERE settled.id = webhook_delivery.id),
                claim_id = NULL, claimed_by = NULL, attempt_started_at = NULL, lease_until = NULL
          WHERE id = ANY (ARRAY(SELECT id FROM settled WHERE due_at IS NOT NULL))),
       batch AS (
         SELECT endpoint_id, count(*)::integer AS finished, min(due_at) AS due_at,
                count(*) FILTER (WHERE succeeded) AS succeeded, count(*) FILTER (WHERE NOT succeeded) AS failed,
                avg(latency) FILTER (WHERE succeeded) AS latency
           FROM settled GROUP BY endpoint_id),
       signal AS (
         SELECT *, 2 * in_flight >= width AS is_used,
                succeeded = 0 AND consecutive_failures + failed >= ${failuresUntilNarrow} AS is_narrow,
                CASE WHEN succeeded = 0 THEN 0
                     ELSE ${gain} * GREATEST(-1, LEAST(1, ${toleratedSlowness} - latency
                            / GREATEST(known_baseline, ${minBaseline}))) END AS gain,
                GREATEST(0, failed - floor(allowed)) AS unusual
           FROM batch JOIN lane USING (endpoint_id)
          CROSS JOIN LATERAL (SELECT LEAST(allowed_failures + ${toleratedFailures}::double precision * usual_failures
                                             * (succeeded + failed), ${maxAllowedFailures}) AS allowed) allowance
          CROSS JOIN LATERAL (SELECT GREATEST(COALESCE(baseline, latency), ${leastBaseline}) AS known_baseline) known),
       raised AS (
         SELECT *, LEAST($maxWidth, CASE WHEN is_used AND gain > 0 THEN ceiling * exp(${ceilingGrowth} * succeeded)
                                         ELSE ceiling END) AS raised_ceiling
           FROM signal),
       adapted AS (
         SELECT *,
                GREATEST(1, power(${keptPerFailure}, unusual)
                  * CASE WHEN is_used OR gain < 0 THEN LEAST(raised_ceiling, width + gain * succeeded)
                         ELSE width END) AS next_width,
                CASE WHEN succeeded > 0 AND (baseline IS NULL OR GREATEST(width, in_flight) <= ${startWidth})
                     THEN GREATEST(known_baseline + (latency - known_baseline) * (1 - exp(-succeeded / ${successesToLearn}.0)),
                                   ${leastBaseline})
                     ELSE baseline END AS next_baseline,
                CASE WHEN in_flight <= ${fewInFlight}
                     THEN LEAST(usual_failures
                                  + (failed::double precision / GREATEST(succeeded + failed, 1) - usual_failures)
                                    * (1 - exp((-succeeded - failed) / ${attemptsToLearn}.0)), ${maxUsualFailures})
                     ELSE usual_failures END AS next_usual
           FROM raised),
       updated_lane AS (
         UPDATE webhook_lane
            SET in_flight = webhook_lane.in_flight - finished,
                next_due = LEAST(next_due, due_at),
                consecutive_failures = CASE WHEN succeeded > 0 THEN 0 ELSE webhook_lane.consecutive_failures + failed END,
                last_success_at = CASE WHEN succeeded > 0 THEN now() ELSE last_success_at END,
                last_failure_at = CASE WHEN failed > 0 THEN now() ELSE last_failure_at END,
                failing_since = CASE WHEN succeeded > 0 THEN NULL
                                     WHEN failed > 0
                                     THEN COALESCE(CASE WHEN webhook_lane.consecutive_failures > 0 THEN failing_since END,
                                                   now())
                                     ELSE failing_since END,
                adaptive_width = CASE WHEN is_narrow THEN 1 ELSE next_width END,
                width_ceiling = CASE WHEN is_narrow THEN NULL WHEN unusual > 0 THEN next_width ELSE raised_ceiling END,
                baseline_ms = next_baseline,
                usual_failures = CASE WHEN is_narrow OR next_usual < ${leastUsualFailures} THEN 0 ELSE next_usual END,
                allowed_failures = CASE WHEN is_narrow THEN 0 ELSE allowed - (failed - unusual) END,
                not_before = CASE WHEN succeeded > 0 THEN '-infinity'
                                  WHEN is_narrow AND failed > 0
                                   AND (last_success_at > now() - $grace * interval '1 millisecond') IS NOT TRUE
                                  THEN now() + interval '${PROBE_INTERVAL} milliseconds'
                                  ELSE not_before END
           FROM adapted
          WHERE webhook_lane.endpoint_id = adapted.endpoint_id AND webhook_lane.endpoint_id = ANY ($endpointId)
         RETURNING next_due <= now() AS is_due)
  SELECT delivery_id AS id, due.exists AS "hasDueLane"
    FROM (SELECT bool_or(is_due) IS TRUE AS exists FROM updated_lane) due
    LEFT JOIN ended ON true`;

const LOG = `
       logged AS (
         ${appendEntries('position IN (SELECT position FROM ended)')}),`;
export const SETTLE_ATTEMPTS = new Statement<LaneRules, SettledRow, Settlement>(settleAttempts(LOG));

/** Without the log entries. If the log is distributed, its entries need a statement of their own. */
export const SETTLE_UNLOGGED_ATTEMPTS = new Statement<LaneRules, SettledRow, Settlement>(settleAttempts(''));
