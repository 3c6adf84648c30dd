import { Injectable } from '@nestjs/common';
import { Column, Entity } from 'typeorm';
import {
  DatabaseConfiguration,
  DeleteAfter,
  PartitionRotation,
  ReadPools,
  Statement,
  StoredRow,
  Transaction,
  type ReadPool,
} from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock, DAY, SECOND, type Period } from '../../../infrastructure/time/index.js';
import {
  ENTRY_QUERY_TIMEOUT_MESSAGE,
  type LoggedDeliveryResponse,
  type RequestLogEntryResponse,
  type RequestLogEntry,
  type SingleRequestLogEntryResponse,
} from '../reading/request-logs.dto.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import type {
  AttemptPosition,
  AttemptSummary,
  EndpointAttempt,
  FailedDeliveries,
  LoggedEndpoint,
  NewRequestLogEntry,
  RequestLogOutcome,
  RequestLogPosition,
} from './request-log-entry.js';
import { LogReads, type LogReadOptions } from './log-reads.js';
import { activeFilters, type RequestLogFilter } from './request-log-filter.js';

/** A file of saved entries that is part of the log. The file itself is removed afterward. */
@Entity({ name: 'request_log_file' })
class RequestLogFile extends StoredRow {
  @DeleteAfter((configuration) => configuration.get(RequestLogsConfiguration).retentionDays * DAY)
  @Column({ name: 'written_at', type: 'timestamptz', precision: 3 })
  writtenAt!: Date;
}

/** Entries of a client in a period, including both ends. */
export interface RequestLogSelection {
  readonly client: AttributedClient;
  readonly period: Required<Period>;
  readonly filter: RequestLogFilter;
}

/** With the names of the API's response. Only `find` returns the body of a response, too. */
const LISTED_COLUMNS = `id, type, created_at AS datetime, method, path, url, event, status_code, latency_ms, session_id, task_id,
  external_user_id, tool, agent, error_code, error_message, request_id, webhook_endpoint_id AS endpoint_id,
  webhook_event_id AS event_id, reason, attempt, dns_ms, connect_ms, tls_ms, first_byte_ms`;

/** Literally the condition of the index `request_log_failure_index`; otherwise PostgreSQL does not use it. */
const HAS_FAILED = `(status_code >= 400 OR (type = 'webhook' AND status_code <> 200))`;
const CONDITION_OF_OUTCOME: Readonly<Record<RequestLogOutcome, string>> = {
  success: `NOT ${HAS_FAILED}`,
  failure: HAS_FAILED,
};

const ATTEMPTS_PER_PAGE = 5_000;
/**
 * For `attempts` and `receivedAmong`, by which the module `webhooks` finds the events to send again. They use the primary, because an
 * attempt that a replica lacks would be wrong about its event.
 */
const RECOVERY_TIMEOUT = 30 * SECOND;
const BELOW_ALL_IDS = 0;
const ABOVE_ALL_IDS = Number.MAX_SAFE_INTEGER;

/** A row as the driver returns it: 64-bit integers are strings. */
type Row = Omit<RequestLogEntryResponse, 'id' | 'task_id' | 'event_id'> &
  Omit<LoggedDeliveryResponse, 'webhook_endpoint_id'> & {
    readonly id: string;
    readonly task_id: string | null;
  };

type SummaryRow = Omit<AttemptSummary, 'last'> & Omit<AttemptSummary['last'], 'id'> & { readonly id: string };

/**
 * Without OFFSET 0, PostgreSQL would merge the conditions and scan all of the client's entries in the primary key index of every
 * partition.
 */
const FIND = `SELECT ${LISTED_COLUMNS}, response_body FROM (SELECT * FROM request_log WHERE id = $1 OFFSET 0) entry
               WHERE client_id = ANY($2::uuid[])`;
/** Only the condition inside keeps Citus from asking the nodes of other clients, which may be down. */
const FIND_ON_NODES = `SELECT ${LISTED_COLUMNS}, response_body FROM request_log
                        WHERE id = $1 AND client_id = ANY($2::uuid[])`;

/** The fields that an entry lacks become null. */
const APPEND = new Statement<object, never, Omit<NewRequestLogEntry, 'attempt'>>(
  `INSERT INTO request_log (client_id, environment, created_at, type, method, path, url, event, status_code, latency_ms,
                            session_id, task_id, external_user_id, tool, agent, error_code, error_message, request_id,
                            webhook_endpoint_id, webhook_event_id, attempt, reason, dns_ms, connect_ms, tls_ms,
                            first_byte_ms, response_body)
   SELECT * FROM unnest($clientId::uuid[], $environment::text[], $createdAt::timestamptz[], $type::text[], $method::text[],
                        $path::text[], $url::text[], $event::text[], $statusCode::smallint[], $latencyMilliseconds::integer[],
                        $sessionId::uuid[], $taskId::bigint[], $externalUserId::text[], $tool::text[], $agent::text[],
                        $errorCode::text[], $errorMessage::text[], $requestId::text[],
                        $endpointId::uuid[], $eventId::uuid[], $number::smallint[], $reason::text[], $dns::integer[],
                        $connect::integer[], $tls::integer[], $firstByte::integer[], $responseBody::text[])`,
);

const ENTRIES_PER_ERASURE = 1_000;

/** The request log, which is partitioned by day in UTC. */
@HoldsUserData('records')
@Injectable()
export class RequestLogRepository implements UserDataHolder {
  private readonly recoveryReads: ReadPool;

  constructor(
    private readonly transaction: Transaction,
    rotation: PartitionRotation,
    { retentionDays }: RequestLogsConfiguration,
    pools: ReadPools,
    private readonly reads: LogReads,
    private readonly database: DatabaseConfiguration,
    private readonly clock: Clock,
  ) {
    rotation.add({ name: 'request_log', retention: { days: retentionDays }, lock: 'request-logs.rotation' });
    this.recoveryReads = pools.open('webhook-recovery', {
      connections: 1,
      timeoutMilliseconds: RECOVERY_TIMEOUT,
    });
  }

  /** Writes all entries durably, or none. Joins the transaction that settles deliveries; API requests have none when they are logged. */
  async append(entries: readonly NewRequestLogEntry[]): Promise<void> {
    const items = entries.map((entry) => {
      const { attempt } = entry;
      return attempt ? { ...entry, ...attempt, ...attempt.phases } : entry;
    });
    await APPEND.run(this.transaction.manager, {}, items);
  }

  /**
   * Gives the user's entries the pseudonym, so that counts stay right. Removes what webhook receivers and the API responded, because
   * it may repeat the identifier.
   */
  async eraseBatch({ clientId, environment, externalUserId, pseudonym }: ErasedUser): Promise<number> {
    const user = [clientId, environment, externalUserId];
    const [batch] = await this.transaction.manager.query<[{ first: Date | null; last: Date | null }]>(
      `SELECT min(created_at) AS first, max(created_at) AS last
         FROM (SELECT created_at FROM request_log
                WHERE client_id = $1 AND environment = $2 AND external_user_id = $3 ORDER BY created_at LIMIT $4) batch`,
      [...user, ENTRIES_PER_ERASURE],
    );
    if (!batch.first) return 0;
    // Known bounds are found in the index, whatever PostgreSQL knows about the table. A statement for one day leaves out the other
    // partitions.
    const endOfDay = new Date((Math.floor(batch.first.getTime() / DAY) + 1) * DAY - 1);
    const last = batch.last && batch.last < endOfDay ? batch.last : endOfDay;
    return this.transaction.change(
      `UPDATE request_log SET external_user_id = $4, response_body = NULL, error_message = NULL
        WHERE client_id = $1 AND environment = $2 AND external_user_id = $3 AND created_at BETWEEN $5 AND $6`,
      [...user, pseudonym, batch.first, last],
    );
  }

  /**
   * Records in the open transaction that the entries of a file are written. If another transaction records the same file, waits
   * for it.
   *
   * @returns false if the entries already were written
   */
  async claimFile(id: string): Promise<boolean> {
    const { raw } = await this.transaction.manager
      .createQueryBuilder()
      .insert()
      .into(RequestLogFile)
      .values({ id, writtenAt: this.clock.now() })
      .orIgnore()
      .returning('id')
      .execute();
    return raw.length > 0;
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
    return this.page(
      { client, filter, period: { start: period.start, end: before?.datetime ?? period.end } },
      'AND (created_at, id) < ($4, $5) ORDER BY created_at DESC, id DESC',
      { id: before?.id ?? ABOVE_ALL_IDS, limit },
      { before: before?.datetime },
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
    return this.page(
      { client, filter, period: { start: after?.datetime ?? period.start, end: period.end } },
      'AND (created_at, id) > ($3, $5) ORDER BY created_at, id',
      { id: after?.id ?? BELOW_ALL_IDS, limit },
    );
  }

  /**
   * Returns the entry with this ID if it belongs to one of these clients.
   *
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  async find(
    clients: readonly AttributedClient[],
    id: number,
  ): Promise<SingleRequestLogEntryResponse | undefined> {
    const [row] = await this.reads.query<Row & Pick<SingleRequestLogEntryResponse, 'response_body'>>(
      this.database.distribution === 'citus' ? FIND_ON_NODES : FIND,
      [id, clients.map(({ clientId }) => clientId)],
      { timeoutMessage: ENTRY_QUERY_TIMEOUT_MESSAGE },
    );
    if (!row) return undefined;
    const { response_body, ...entry } = row;
    return { ...entryOf(entry), response_body };
  }

  /**
   * Returns users with entries whose identifier begins with the text, in order. Reads one index entry for each, however many
   * entries they have. The index may ignore case and punctuation, so the scan goes on while the text is the same without case.
   */
  async usersWith(
    { clientId, environment }: AttributedClient,
    prefix: string,
    limit: number,
  ): Promise<string[]> {
    const next = (condition: string): string =>
      `SELECT external_user_id AS "user" FROM request_log
        WHERE client_id = $1 AND environment = $2 AND external_user_id ${condition} ORDER BY external_user_id LIMIT 1`;
    const users = await this.reads.query<{ readonly user: string }>(
      `WITH RECURSIVE found AS (
         (SELECT "user", 1 AS place FROM (${next('>= $3')}) first)
         UNION ALL
         SELECT next."user", place + 1 FROM found CROSS JOIN LATERAL (${next('> found."user"')}) next
          WHERE place < $4 AND lower(left(found."user", length($3))) = lower($3)
       )
       SELECT "user" FROM found WHERE starts_with("user", $3)`,
      [clientId, environment, prefix, limit],
    );
    return users.map(({ user }) => user);
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

  /** Returns those of the events whose last attempt at the endpoint since the time has succeeded. */
  async receivedAmong(
    { endpointId, clientId, environment }: LoggedEndpoint & AttributedClient,
    eventIds: readonly string[],
    since: Date,
  ): Promise<string[]> {
    const rows = await this.recoveryReads.query<{ readonly eventId: string }>(
      `SELECT "eventId"
         FROM (SELECT DISTINCT ON (webhook_event_id) webhook_event_id AS "eventId", reason
                 FROM request_log
                WHERE client_id = $1 AND environment = $2 AND webhook_event_id = ANY ($3) AND webhook_endpoint_id = $4
                  AND created_at >= $5
                ORDER BY webhook_event_id, created_at DESC, id DESC) last
        WHERE reason IS NULL`,
      [clientId, environment, eventIds, endpointId, since],
    );
    return rows.map(({ eventId }) => eventId);
  }

  /**
   * Finds the deliveries with a failed attempt in the selection whose last attempt has failed. Reads only the newest failed attempts.
   *
   * @param limit how many attempts are read
   * @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout
   */
  async failedDeliveries(
    { client, period, filter }: RequestLogSelection,
    limit: number,
  ): Promise<FailedDeliveries> {
    const failures = { ...filter, type: 'webhook', outcome: 'failure' } as const;
    // An aggregate without groups has one row.
    const [found] = await this.reads.query<FailedDeliveries>(
      `WITH attempt AS MATERIALIZED (
         SELECT webhook_event_id, webhook_endpoint_id, created_at FROM request_log
          WHERE client_id = $1 AND environment = $2 AND created_at >= $3 AND created_at <= $4${conditions(failures, 6)}
          ORDER BY created_at DESC, id DESC
          LIMIT $5),
       delivery AS (
         SELECT webhook_event_id, webhook_endpoint_id, max(created_at) AS failed_at
           FROM attempt WHERE webhook_event_id IS NOT NULL GROUP BY 1, 2),
       failed AS (
         SELECT * FROM delivery
          WHERE NOT EXISTS (SELECT FROM request_log later
                             WHERE client_id = $1 AND environment = $2 AND created_at >= failed_at AND reason IS NULL
                               AND later.webhook_event_id = delivery.webhook_event_id
                               AND later.webhook_endpoint_id = delivery.webhook_endpoint_id))
       SELECT (SELECT count(*)::integer FROM attempt) AS "attemptsRead", (SELECT min(created_at) FROM attempt) AS "readFrom",
              COALESCE(array_agg(webhook_event_id ORDER BY failed_at), '{}') AS "eventIds",
              COALESCE(array_agg(webhook_endpoint_id ORDER BY failed_at), '{}') AS "endpointIds"
         FROM failed`,
      [
        client.clientId,
        client.environment,
        period.start,
        period.end,
        limit,
        ...activeFilters(failures).map(({ value }) => value),
      ],
    );
    return found as FailedDeliveries;
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
      { timeoutMessage: ENTRY_QUERY_TIMEOUT_MESSAGE },
    );
    return rows.map(({ eventId, endpointId, count, id, ...last }) => ({
      eventId,
      endpointId,
      count,
      last: { id: Number(id), ...last },
    }));
  }

  /** @param order a condition on the position of the entries ($4 or $3, $5), and their order */
  private async page(
    { client, period, filter }: RequestLogSelection,
    order: string,
    { id, limit }: { readonly id: number; readonly limit: number },
    options?: LogReadOptions,
  ): Promise<RequestLogEntry[]> {
    const filters = activeFilters(filter).map(({ value }) => value);
    const rows = await this.reads.query<Row>(
      `SELECT ${LISTED_COLUMNS} FROM request_log
        WHERE client_id = $1 AND environment = $2 AND created_at >= $3 AND created_at <= $4${conditions(filter, 7)}
          ${order} LIMIT $6`,
      [client.clientId, client.environment, period.start, period.end, id, limit, ...filters],
      options,
    );
    return rows.map(entryOf);
  }
}

/** Adds only the conditions that are set, so that PostgreSQL can choose the index for them. */
function conditions(filter: RequestLogFilter, firstParameter: number): string {
  const outcome = filter.outcome === undefined ? '' : ` AND ${CONDITION_OF_OUTCOME[filter.outcome]}`;
  return activeFilters(filter)
    .map(({ name, column = name }, index) => ` AND ${column} = $${firstParameter + index}`)
    .concat(outcome)
    .join('');
}

function entryOf({ attempt, dns_ms, connect_ms, tls_ms, first_byte_ms, ...entry }: Row): RequestLogEntry {
  const { id, task_id: taskId, endpoint_id: endpointId, event_id, reason } = entry;
  const phases = { dns_ms, connect_ms, tls_ms, first_byte_ms };
  return {
    ...entry,
    id: Number(id),
    task_id: taskId === null ? null : Number(taskId),
    delivery:
      endpointId === null ? null : { webhook_endpoint_id: endpointId, event_id, attempt, reason, ...phases },
  };
}
