import { Injectable } from '@nestjs/common';
import {
  DatabaseConfiguration,
  PartitionRotation,
  prepared,
  ReadPools,
  Transaction,
  type ReadPool,
} from '../../../infrastructure/database/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { ENTRY_QUERY_TIMEOUT_MESSAGE } from '../request-log-errors.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import type {
  AttemptPosition,
  AttemptSummary,
  EndpointAttempt,
  LoggedAttempt,
  LoggedEndpoint,
  NewRequestLogEntry,
  RequestLogEntry,
  RequestLogFilter,
  RequestLogOutcome,
  RequestLogPosition,
  RequestLogSelection,
} from './request-log-entry.js';
import { LogReads, type LogReadOptions } from './log-reads.js';

const COLUMNS = `id, client_id AS "clientId", environment, created_at AS "createdAt", type, method, path, url, event,
  status_code AS "statusCode", latency_ms AS "latencyMilliseconds", session_id AS "sessionId", task_id AS "taskId",
  external_user_id AS "externalUserId", tool, webhook_endpoint_id AS "endpointId", webhook_event_id AS "eventId",
  attempt AS number, reason, dns_ms AS dns, connect_ms AS connect, tls_ms AS tls, first_byte_ms AS "firstByte"`;

/** Literally the condition of the index `request_log_failure_index`; otherwise PostgreSQL does not use it. */
const HAS_FAILED = `(status_code >= 400 OR (type = 'webhook' AND status_code <> 200))`;
const CONDITION_OF_OUTCOME: Readonly<Record<RequestLogOutcome, string>> = {
  success: `NOT ${HAS_FAILED}`,
  failure: HAS_FAILED,
};

type ValueFilter = Omit<RequestLogFilter, 'outcome'>;

const COLUMN_OF_FILTER: Readonly<Record<keyof ValueFilter, string>> = {
  type: 'type',
  sessionId: 'session_id',
  taskId: 'task_id',
  externalUserId: 'external_user_id',
  event: 'event',
  statusCode: 'status_code',
  endpointId: 'webhook_endpoint_id',
  eventId: 'webhook_event_id',
};

const ATTEMPTS_PER_PAGE = 5_000;
/**
 * For `attempts`, by which the module `webhooks` finds the failed events to resend in a recovery. It uses the primary, because
 * an attempt that a replica lacks would not be resent.
 */
const RECOVERY_TIMEOUT = 30 * SECOND;
const BELOW_ALL_IDS = 0;
const ABOVE_ALL_IDS = Number.MAX_SAFE_INTEGER;

type Attempt = Omit<LoggedAttempt, 'endpointId' | 'phases'> & LoggedAttempt['phases'];

/** A row as the driver returns it: 64-bit integers are strings. */
interface Row extends Omit<RequestLogEntry, 'id' | 'taskId' | 'attempt'>, Attempt {
  readonly id: string;
  readonly taskId: string | null;
  /** Null for an API request, which has no attempt. */
  readonly endpointId: string | null;
}

type SummaryRow = Omit<AttemptSummary, 'last'> &
  Omit<AttemptSummary['last'], 'id'> & {
    readonly id: string;
  };

const COLUMNS_OF_ONE = `${COLUMNS}, response_body AS "responseBody"`;
/**
 * Without OFFSET 0, PostgreSQL would merge the conditions and scan all of the client's entries in the primary key index of every
 * partition.
 */
const FIND = `SELECT * FROM (SELECT ${COLUMNS_OF_ONE} FROM request_log WHERE id = $1 OFFSET 0) entry
               WHERE "clientId" = ANY($2::uuid[])`;
/** Only the condition inside keeps Citus from asking the nodes of other clients, which may be down. */
const FIND_ON_NODES = `SELECT ${COLUMNS_OF_ONE} FROM request_log WHERE id = $1 AND client_id = ANY($2::uuid[])`;

const APPEND = prepared(
  `INSERT INTO request_log (client_id, environment, created_at, type, method, path, url, event,
                                status_code, latency_ms, session_id, task_id, external_user_id, webhook_endpoint_id,
                                webhook_event_id, attempt, reason, dns_ms, connect_ms, tls_ms, first_byte_ms,
                                response_body, tool)
       SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
                            $7::text[], $8::text[], $9::smallint[], $10::integer[], $11::uuid[],
                            $12::bigint[], $13::text[], $14::uuid[], $15::uuid[], $16::smallint[], $17::text[],
                            $18::integer[], $19::integer[], $20::integer[], $21::integer[], $22::text[], $23::text[])`,
);

/** The lock under which the partitions of the log change. */
export const REQUEST_LOG_ROTATION = 'request-logs.rotation';

/** The request log, which is partitioned by day in UTC. */
@Injectable()
export class RequestLogRepository {
  private readonly recoveryReads: ReadPool;

  constructor(
    private readonly transaction: Transaction,
    rotation: PartitionRotation,
    { retentionDays, columnarAfterDays }: RequestLogsConfiguration,
    pools: ReadPools,
    private readonly reads: LogReads,
    private readonly database: DatabaseConfiguration,
    private readonly clock: Clock,
  ) {
    rotation.add({
      name: 'request_log',
      retention: { days: retentionDays },
      lock: REQUEST_LOG_ROTATION,
      columnarAfterDays,
    });
    this.recoveryReads = pools.open('webhook-recovery', {
      connections: 1,
      timeoutMilliseconds: RECOVERY_TIMEOUT,
    });
  }

  /** Writes all entries durably, or none. Joins the open transaction. */
  async append(entries: readonly NewRequestLogEntry[]): Promise<void> {
    await this.transaction.manager.query(APPEND, [
      entries.map((entry) => entry.clientId),
      entries.map((entry) => entry.environment),
      entries.map((entry) => entry.createdAt),
      entries.map((entry) => entry.type),
      entries.map((entry) => entry.method),
      entries.map((entry) => entry.path),
      entries.map((entry) => entry.url),
      entries.map((entry) => entry.event),
      entries.map((entry) => entry.statusCode),
      entries.map((entry) => entry.latencyMilliseconds),
      entries.map((entry) => entry.sessionId),
      entries.map((entry) => entry.taskId),
      entries.map((entry) => entry.externalUserId),
      entries.map(({ attempt }) => attempt?.endpointId),
      entries.map(({ attempt }) => attempt?.eventId),
      entries.map(({ attempt }) => attempt?.number),
      entries.map(({ attempt }) => attempt?.reason),
      entries.map(({ attempt }) => attempt?.phases.dns),
      entries.map(({ attempt }) => attempt?.phases.connect),
      entries.map(({ attempt }) => attempt?.phases.tls),
      entries.map(({ attempt }) => attempt?.phases.firstByte),
      entries.map(({ attempt }) => attempt?.responseBody),
      entries.map((entry) => entry.tool),
    ]);
  }

  /**
   * Records in the open transaction that the entries of a file are written. If another transaction records the same file, waits
   * for it.
   *
   * @returns false if the entries already were written
   */
  async claimFile(id: string): Promise<boolean> {
    const claimed = await this.transaction.manager.query<object[]>(
      'INSERT INTO request_log_file (id, written_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id',
      [id, this.clock.now()],
    );
    return claimed.length > 0;
  }

  /**
   * Returns the newest entries of the selection, before the position if there is one.
   *
   * A cursor position replaces the end of the period as the upper bound. With both bounds, PostgreSQL scans from the
   * end of the period down to the position: 43 ms instead of 0.4 ms for row 300,000 of 10 million. The separate
   * condition on `created_at` looks redundant, but PostgreSQL prunes partitions only by it, not by the row comparison.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  newest(
    { client, period, filter }: RequestLogSelection,
    { before, limit }: { readonly before: RequestLogPosition | undefined; readonly limit: number },
  ): Promise<RequestLogEntry[]> {
    return this.select(
      `created_at >= $3 AND created_at <= $4 AND (created_at, id) < ($4, $5)${conditions(filter, 7)}
       ORDER BY created_at DESC, id DESC LIMIT $6`,
      [
        client.clientId,
        client.environment,
        period.start,
        before?.createdAt ?? period.end,
        before?.id ?? ABOVE_ALL_IDS,
        limit,
        ...values(filter),
      ],
      before ? { before: before.createdAt } : { clientId: client.clientId },
    );
  }

  /**
   * Returns the oldest entries of the selection, after the position if there is one, which replaces the start of the period as the
   * lower bound for the reasons given at `newest`.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  oldest(
    { client, period, filter }: RequestLogSelection,
    { after, limit }: { readonly after: RequestLogPosition | undefined; readonly limit: number },
  ): Promise<RequestLogEntry[]> {
    return this.select(
      `created_at >= $3 AND created_at <= $4 AND (created_at, id) > ($3, $5)${conditions(filter, 7)}
       ORDER BY created_at, id LIMIT $6`,
      [
        client.clientId,
        client.environment,
        after?.createdAt ?? period.start,
        period.end,
        after?.id ?? BELOW_ALL_IDS,
        limit,
        ...values(filter),
      ],
    );
  }

  /**
   * Returns the entry with this ID if it belongs to one of these clients.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  async find(clients: readonly AttributedClient[], id: number): Promise<RequestLogEntry | undefined> {
    const [entry] = await this.query(
      this.database.distribution === 'citus' ? FIND_ON_NODES : FIND,
      [id, clients.map(({ clientId }) => clientId)],
      { timeoutMessage: ENTRY_QUERY_TIMEOUT_MESSAGE, mustFind: true },
    );
    return entry;
  }

  /** Returns a page of the delivery attempts to an endpoint after the position, oldest first; empty at the end. */
  attempts(
    { endpointId, clientId }: LoggedEndpoint,
    { createdAt, id }: AttemptPosition,
  ): Promise<EndpointAttempt[]> {
    return this.recoveryReads.query<EndpointAttempt>(
      `SELECT id, created_at AS "createdAt", webhook_event_id AS "eventId", reason IS NOT NULL AS "hasFailed"
         FROM request_log
        WHERE client_id = $1 AND webhook_endpoint_id = $2 AND created_at >= $3 AND (created_at, id) > ($3, $4)
        ORDER BY created_at, id
        LIMIT ${ATTEMPTS_PER_PAGE}`,
      [clientId, endpointId, createdAt, id],
    );
  }

  /**
   * Returns the attempts to deliver some events since the time when the first of them was published.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  async attemptsOf(
    { clientId, environment }: AttributedClient,
    eventIds: readonly string[],
    since: Date,
  ): Promise<AttemptSummary[]> {
    const rows = await this.reads.query<SummaryRow>(
      `SELECT DISTINCT ON (webhook_event_id, webhook_endpoint_id)
              webhook_event_id AS "eventId", webhook_endpoint_id AS "endpointId",
              count(*) OVER (PARTITION BY webhook_event_id, webhook_endpoint_id)::integer AS count,
              id, created_at AS "createdAt", url, status_code AS "statusCode", reason
         FROM request_log
        WHERE client_id = $1 AND environment = $2 AND webhook_event_id = ANY ($3) AND created_at >= $4
        ORDER BY webhook_event_id, webhook_endpoint_id, created_at DESC, id DESC`,
      [clientId, environment, eventIds, since],
    );
    return rows.map(({ eventId, endpointId, count, id, ...last }) => ({
      eventId,
      endpointId,
      count,
      last: { id: Number(id), ...last },
    }));
  }

  private select(
    condition: string,
    parameters: readonly unknown[],
    options?: LogReadOptions,
  ): Promise<RequestLogEntry[]> {
    return this.query(
      `SELECT ${COLUMNS} FROM request_log WHERE client_id = $1 AND environment = $2 AND ${condition}`,
      parameters,
      options,
    );
  }

  private async query(
    statement: string,
    parameters: readonly unknown[],
    options?: LogReadOptions,
  ): Promise<RequestLogEntry[]> {
    return (await this.reads.query<Row>(statement, parameters, options)).map(entryOf);
  }
}

/** Adds only the conditions that are set, so that PostgreSQL can choose the index for them. */
function conditions(filter: RequestLogFilter, firstParameter: number): string {
  const outcome = filter.outcome === undefined ? '' : ` AND ${CONDITION_OF_OUTCOME[filter.outcome]}`;
  return activeFilters(filter)
    .map(([name], index) => ` AND ${COLUMN_OF_FILTER[name]} = $${firstParameter + index}`)
    .concat(outcome)
    .join('');
}

function values(filter: RequestLogFilter): unknown[] {
  return activeFilters(filter).map(([, value]) => value);
}

function activeFilters(filter: RequestLogFilter): [keyof ValueFilter, unknown][] {
  const entries = Object.entries(filter) as [keyof RequestLogFilter, unknown][];
  return entries.filter(
    (entry): entry is [keyof ValueFilter, unknown] => entry[0] !== 'outcome' && entry[1] !== undefined,
  );
}

function entryOf(row: Row): RequestLogEntry {
  const { id, taskId, endpointId, eventId, number, reason, responseBody, ...others } = row;
  const { dns, connect, tls, firstByte, ...entry } = others;
  const phases = { dns, connect, tls, firstByte };
  const attempt = {
    eventId,
    number,
    reason,
    phases,
    ...(responseBody === undefined ? {} : { responseBody }),
  };
  return {
    ...entry,
    id: Number(id),
    taskId: taskId === null ? null : Number(taskId),
    ...(endpointId === null ? {} : { attempt: { endpointId, ...attempt } }),
  };
}
