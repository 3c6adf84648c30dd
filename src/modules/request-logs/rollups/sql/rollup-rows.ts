import { OPERATION_OF_ENTRY } from '../../storage/sql/operation-of-entry.js';

/** Latencies below this have a bucket for each millisecond. */
const EXACT_LATENCIES = 8;
/** Each bucket above them is wider by this factor, so that its middle is within 10 % of every latency in it. */
const BUCKET_GROWTH = 1.2;

/** Returns the latency in milliseconds that stands for all latencies in a bucket. */
export function latencyOfBucket(bucket: number): number {
  if (bucket < EXACT_LATENCIES) return bucket;
  return Math.round(EXACT_LATENCIES * BUCKET_GROWTH ** (bucket - EXACT_LATENCIES + 0.5));
}

/** The columns of a summary, which are those of the table `request_log_rollup`. */
export const SUMMARY_COLUMNS =
  'client_id, start, type, targets, events, statuses, counts, latency_buckets, latency_counts';

/** The columns of `request_log` that `summaryOf` needs. */
export const ENTRY_COLUMNS =
  'client_id, created_at, type, method, path, webhook_endpoint_id, event, status_code, latency_ms';

/**
 * Rows keep this many combinations of target, event and status. A client can request any number of paths below
 * `/webhook-endpoints/`; the target of the rarest combinations is null.
 */
const MAX_COMBINATIONS = 200;

/** Builds rows from the common table expressions `combination` and `latency`. */
const ROWS = `
  SELECT ${SUMMARY_COLUMNS}
    FROM (SELECT client_id, start, type, array_agg(target) AS targets, array_agg(event) AS events,
                 array_agg(status::smallint) AS statuses, array_agg(entries) AS counts
            FROM combination GROUP BY 1, 2, 3) combinations
    JOIN (SELECT client_id, start, type, array_agg(bucket::smallint) AS latency_buckets,
                 array_agg(entries) AS latency_counts
            FROM latency GROUP BY 1, 2, 3) latencies USING (client_id, start, type)`;

/** The start of the slice of five minutes that contains an entry. */
export const SLICE_OF_ENTRY = `date_bin('5 minutes', created_at, 'epoch')`;

/**
 * Returns a query that summarizes entries as rows of `request_log_rollup`. A status is 200, because only that is a success
 * of a webhook, or the first digit of any other status: 0 if there was no response, 2, 3, 4, or 5 for all others.
 *
 * @param entries a query that returns `ENTRY_COLUMNS`
 */
export function summaryOf(entries: string): string {
  return `
    WITH counted AS (
      SELECT client_id, ${SLICE_OF_ENTRY} AS start, type, method, path, webhook_endpoint_id, event,
             CASE WHEN status_code = 200 THEN 200
                  WHEN status_code = 0 OR status_code / 100 IN (2, 3, 4) THEN status_code / 100
                  ELSE 5 END AS status,
             CASE WHEN latency_ms < ${EXACT_LATENCIES} THEN greatest(latency_ms, 0)
                  ELSE ${EXACT_LATENCIES}
                    + floor(ln(latency_ms::float8 / ${EXACT_LATENCIES}) / ln(${BUCKET_GROWTH}::float8))::int END AS bucket,
             count(*) AS entries
        FROM (${entries}) entry
       GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ), ranked AS (
      SELECT client_id, start, type, target, event, status, sum(entries) AS entries,
             row_number() OVER (PARTITION BY client_id, start, type
                                    ORDER BY sum(entries) DESC, target, event, status) AS rank
        FROM (SELECT *, CASE type WHEN 'webhook' THEN webhook_endpoint_id::text
                             ELSE ${OPERATION_OF_ENTRY} END AS target
                FROM counted) named
       GROUP BY 1, 2, 3, 4, 5, 6
    ), combination AS (
      SELECT client_id, start, type, CASE WHEN rank <= ${MAX_COMBINATIONS} THEN target END AS target, event, status,
             sum(entries)::int AS entries
        FROM ranked GROUP BY 1, 2, 3, 4, 5, 6
    ), latency AS (
      SELECT client_id, start, type, bucket, sum(entries)::int AS entries FROM counted GROUP BY 1, 2, 3, 4
    )
    ${ROWS}`;
}

/**
 * Returns a query that merges rows of `request_log_rollup` to rows of `request_log_hourly_rollup`.
 *
 * @param slices the condition of the rows
 */
export function hoursOf(slices: string): string {
  const source = (lists: string): string =>
    `FROM request_log_rollup slice CROSS JOIN LATERAL unnest(${lists}) WHERE ${slices}`;
  const hour = `client_id, date_bin('1 hour', start, 'epoch') AS start, type`;
  return `
    WITH combination AS (
      SELECT ${hour}, target, event, status, sum(count)::int AS entries
        ${source('targets, events, statuses, counts) AS part (target, event, status, count')}
       GROUP BY 1, 2, 3, 4, 5, 6
    ), latency AS (
      SELECT ${hour}, bucket, sum(count)::int AS entries
        ${source('latency_buckets, latency_counts) AS part (bucket, count')}
       GROUP BY 1, 2, 3, 4
    )
    ${ROWS}`;
}
