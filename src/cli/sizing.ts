/**
 * Defaults of settings, and how many days an expired token is kept. They are repeated here because the modules that define them
 * take longer to load than everything else that `database size` needs. `sizing.spec.ts` compares them.
 */
export const DEFAULTS = { retentionDays: 30, readConnections: 2, poolSize: 10, daysAfterExpiry: 7 };

const SECONDS_PER_DAY = 86_400;
const GIGABYTE = 1e9;

/** Bytes of a row with its indexes, as `test/e2e/database/sizing.spec.ts` measures them. */
export const BYTES_PER_ROW = { request: 370, attempt: 1_210, event: 560, token: 250 };
/** Bytes written to the write-ahead log for each byte that a row needs. */
const WAL_RATIO = 1.5;
/** Room for temporary files, the write-ahead log that is not archived yet, and growth. */
const DISK_RESERVE = 1.3;

/** A process handles about 2,900 requests or 3,100 deliveries per second (bench/RESULTS.md). Plan with a third. */
const PER_PROCESS = 1_000;
/** PostgreSQL needs one core for the statements of one process at full load. */
const PER_DATABASE_CORE = 1_000;
/** One process can be replaced or lost while the other works. */
const MIN_PROCESSES = 2;

const BACKGROUND_CONNECTIONS = { notifications: 1, jobLocks: 2, recoveries: 1 };
/** One for its counts, and one for trends in lists. */
const OVERVIEW_CONNECTIONS = 2;
/** For the event feed. */
const FEED_CONNECTIONS = 4;
/** For streams and requests that wait for events, as soon as there is one. */
const LISTENING_CONNECTIONS = 1;
/** For commands, backups and administrators. */
const SPARE_CONNECTIONS = 10;

/** One server writes about 56,000 entries per second without any other work. Plan with a third. */
const MAX_ROWS_PER_SECOND = 18_000;
/** A base backup of this size takes hours, and so does restoring it. */
const MAX_DISK_GB = 4_000;

/** The expected load. Rates are per second, on average over a day. */
export interface ExpectedLoad {
  readonly requests: number;
  readonly deliveryAttempts: number;
  readonly tokens: number;
  /** The lifetime of a token in days. */
  readonly tokenDays: number;
  /** The days that request log entries and events are kept. */
  readonly retentionDays: number;
  /** How many times the average the busiest minute is. */
  readonly peak: number;
}

/** Calculates what an expected load needs: disk (in gigabytes of 10^9 bytes), processes and connections of the database. */
export function sizingOf(load: ExpectedLoad) {
  const perDay = (rate: number, bytes: number): number => (rate * SECONDS_PER_DAY * bytes) / GIGABYTE;
  const log =
    perDay(load.requests, BYTES_PER_ROW.request) + perDay(load.deliveryAttempts, BYTES_PER_ROW.attempt);
  const events = perDay(load.deliveryAttempts, BYTES_PER_ROW.event);
  const tokens = perDay(load.tokens, BYTES_PER_ROW.token);
  const logTotal = log * load.retentionDays;
  const eventTotal = events * load.retentionDays;
  const tokenTotal = tokens * (load.tokenDays + DEFAULTS.daysAfterExpiry);
  const disk = (logTotal + eventTotal + tokenTotal) * DISK_RESERVE;

  const peak = { requests: load.requests * load.peak, attempts: load.deliveryAttempts * load.peak };
  const http = Math.max(MIN_PROCESSES, Math.ceil(peak.requests / PER_PROCESS));
  const workers = Math.max(MIN_PROCESSES, Math.ceil(peak.attempts / PER_PROCESS));
  const connections = http * connectionsOf('http') + workers * connectionsOf('workers');
  return {
    request_log: {
      entries_per_day: Math.round((load.requests + load.deliveryAttempts) * SECONDS_PER_DAY),
      gb_per_day: rounded(log),
      gb: rounded(logTotal),
    },
    events_gb: rounded(eventTotal),
    mcp_tokens_gb: rounded(tokenTotal),
    wal_gb_per_day: rounded((log + events + tokens) * WAL_RATIO),
    disk_gb: rounded(disk),
    processes: { http, workers },
    database: {
      cores: Math.max(MIN_PROCESSES, Math.ceil((peak.requests + peak.attempts) / PER_DATABASE_CORE)),
      connections,
      // During a rolling deployment, one process more than usual runs.
      max_connections: connections + connectionsOf('workers') + SPARE_CONNECTIONS,
    },
    advice: adviceFor(peak.requests + peak.attempts, disk),
  };
}

function connectionsOf(kind: 'http' | 'workers'): number {
  const { poolSize, readConnections } = DEFAULTS;
  const reads = readConnections + OVERVIEW_CONNECTIONS + FEED_CONNECTIONS + LISTENING_CONNECTIONS;
  const background = Object.values(BACKGROUND_CONNECTIONS).reduce((sum, count) => sum + count, 0);
  return poolSize + (kind === 'http' ? reads : background);
}

function adviceFor(rowsPerSecond: number, diskGigabytes: number): string {
  const reasons = [
    ...(rowsPerSecond > MAX_ROWS_PER_SECOND
      ? [`it writes ${Math.round(rowsPerSecond).toLocaleString('en')} log entries per second at the peak`]
      : []),
    ...(diskGigabytes > MAX_DISK_GB
      ? [`its backup of ${rounded(diskGigabytes).toLocaleString('en')} GB takes too long`]
      : []),
  ];
  return reasons.length === 0
    ? 'One PostgreSQL is enough. A streaming replica can serve the pages of the logs.'
    : `One PostgreSQL is too small: ${reasons.join(', and ')}. Keep entries for fewer days, or distribute the request log.`;
}

/** Three significant digits: the figures are estimates. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
