import { Injectable } from '@nestjs/common';
import {
  DatabaseConfiguration,
  PartitionRotation,
  ReadPools,
  Statement,
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
  type RequestLogEntry,
  type SingleField,
  type SingleRequestLogEntryResponse,
} from '../request-logs.dto.js';
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
} from '../request-log-entry.js';
import { LogReads, type LogReadOptions } from './log-reads.js';
import { activeFilters, type RequestLogFilter } from './request-log-filter.js';
import { RequestLogFile } from './request-log-file.entity.js';

/** Entries of a client in a period, including both ends. */
export interface RequestLogSelection {
  readonly client: AttributedClient;
  readonly period: Required<Period>;
  readonly filter: RequestLogFilter;
}

/** With the names of the API's response. Only `find` also returns who sent a request, and the body of a response. */
const LISTED_COLUMNS = `id, type, created_at AS datetime, method, path, url, event, status_code, latency_ms, session_id, task_id,
  external_user_id, tool, agent, api_key, error_code, error_message, request_id, webhook_endpoint_id AS endpoint_id,
  webhook_event_id AS event_id, reason,
  CASE WHEN webhook_endpoint_id IS NOT NULL THEN json_build_object('webhook_endpoint_id', webhook_endpoint_id,
    'event_id', webhook_event_id, 'attempt', attempt, 'reason', reason, 'dns_ms', dns_ms, 'connect_ms', connect_ms,
    'tls_ms', tls_ms, 'first_byte_ms', first_byte_ms) END AS delivery`;
const FOUND_COLUMNS = `${LISTED_COLUMNS}, secret_version, ip_address, user_agent, response_body`;

/** Literally the condition of the index `request_log_failure_index`; otherwise PostgreSQL does not use it. */
const HAS_FAILED = `(status_code >= 400 OR (type = 'webhook' AND status_code <> 200))`;
const CONDITION_OF_OUTCOME: Readonly<Record<RequestLogOutcome, string>> = {
  success: `NOT ${HAS_FAILED}`,
  failure: HAS_FAILED,
};

const ATTEMPTS_PER_PAGE = 1_000;
/**
 * For `attempts` and `receivedAmong`, by which the module `webhooks` finds the events to send again. They use the primary, because an
 * attempt that a replica lacks would be wrong about its event.
 */
const RECOVERY_TIMEOUT = 30 * SECOND;
const BELOW_ALL_IDS = 0;
const ABOVE_ALL_IDS = Number.MAX_SAFE_INTEGER;

/** A row as the driver returns it: 64-bit integers are strings. */
type Row = Omit<RequestLogEntry, 'id' | 'task_id'> & { readonly id: string; readonly task_id: string | null };

type SummaryRow = Omit<AttemptSummary, 'last'> & Omit<AttemptSummary['last'], 'id'> & { readonly id: string };

/**
 * Without OFFSET 0, PostgreSQL would merge the conditions and scan all of the client's entries in the primary key index of every
 * partition.
 */
const FIND = `SELECT ${FOUND_COLUMNS} FROM (SELECT * FROM request_log WHERE id = $1 OFFSET 0) entry
               WHERE client_id = ANY($2::uuid[])`;
/** Only the condition inside keeps Citus from asking the nodes of other clients, which may be down. */
const FIND_ON_NODES = `SELECT ${FOUND_COLUMNS} FROM request_log
                        WHERE id = $1 AND client_id = ANY($2::uuid[])`;

const ENTRY_COLUMNS = `client_id, environment, created_at, type, method, path, url, event, status_code, latency_ms, session_id, task_id,
  external_user_id, tool, agent, error_code, error_message, request_id, webhook_endpoint_id, webhook_event_id, attempt, reason, dns_ms,
  connect_ms, tls_ms, first_byte_ms, response_body, api_key, secret_version, ip_address, user_agent`;

/**
 * Returns SQL that appends entries, which are items of a `Statement` that `toEntryItem()` has made. The fields that an entry lacks become
 * null.
 *
 * @param condition which entries are appended, by their `position`
 */
export function appendEntries(condition: string): string {
  return `INSERT INTO request_log (${ENTRY_COLUMNS})
   SELECT ${ENTRY_COLUMNS}
     FROM unnest($clientId::uuid[], $environment::text[], $createdAt::timestamptz[], $type::text[], $method::text[],
                 $path::text[], $url::text[], $event::text[], $statusCode::smallint[], $latencyMilliseconds::integer[],
                 $sessionId::uuid[], $taskId::bigint[], $externalUserId::text[], $tool::text[], $agent::text[],
                 $errorCode::text[], $errorMessage::text[], $requestId::text[],
                 $endpointId::uuid[], $eventId::uuid[], $number::smallint[], $reason::text[], $dns::integer[],
                 $connect::integer[], $tls::integer[], $firstByte::integer[], $responseBody::text[], $apiKey::text[],
                 $secretVersion::integer[], $ip::text[], $userAgent::text[])
            WITH ORDINALITY AS entry (${ENTRY_COLUMNS}, position)
    WHERE ${condition}
    LIMIT cardinality($clientId)`;
}

const APPEND = new Statement<object, never, object>(appendEntries('true'));

/** Returns the entry as an item of a statement with `appendEntries()`. */
export function toEntryItem(entry: NewRequestLogEntry): object {
  const { attempt } = entry;
  return attempt ? { ...entry, ...attempt, ...attempt.phases } : entry;
}

const ENTRIES_PER_ERASURE = 1_000;
/** How many erasures a process remembers the progress of. */
const MAX_KNOWN_ERASURES = 100;

/** The request log, which is partitioned by day in UTC. */
@HoldsUserData('records')
@Injectable()
export class RequestLogRepository implements UserDataHolder {
  private readonly recoveryReads: ReadPool;
  /** The times at which the last batches of erasures ended, so that the next ones do not read the same entries again. */
  private readonly erasedUntil = new Map<string, Date>();

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

  /**
   * Keeps a rotation from moving entries between partitions until the open transaction ends.
   *
   * @returns false if a rotation is moving entries: the log then lacks some of them
   */
  async lockComplete(): Promise<boolean> {
    await this.transaction.manager.query('LOCK TABLE request_log IN ACCESS SHARE MODE');
    const strays = await this.transaction.manager.query<object[]>(
      `SELECT FROM pg_class
        WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'request_log'::regclass)
          AND relkind = 'r' AND starts_with(relname, 'request_log_stray_')`,
    );
    return strays.length === 0;
  }

  /** Writes all entries durably, or none. */
  async append(entries: readonly NewRequestLogEntry[]): Promise<void> {
    if (entries.length > 0) await APPEND.run(this.transaction.manager, {}, entries.map(toEntryItem));
  }

  /**
   * Gives the user's entries the pseudonym, so that counts stay right. Removes what webhook receivers and the API responded, because
   * it may repeat the identifier, and the addresses, of which those of tool calls may be the user's. Version 0.3.0, which does not know
   * the addresses, leaves them with the pseudonym.
   */
  async eraseBatch(user: ErasedUser): Promise<number> {
    const { externalUserId, pseudonym } = user;
    return (
      (await this.eraseEntriesOf(externalUserId, 'true', user)) ||
      this.eraseEntriesOf(pseudonym, '(ip_address IS NOT NULL OR user_agent IS NOT NULL)', user)
    );
  }

  /**
   * @param name under which the entries are stored: the identifier or the pseudonym
   * @param condition of the entries that contain data of the user
   */
  private async eraseEntriesOf(name: string, condition: string, user: ErasedUser): Promise<number> {
    const { clientId, environment, pseudonym } = user;
    const entries = [clientId, environment, name];
    const key = `${clientId} ${pseudonym} ${condition}`;
    const isOfUser = `client_id = $1 AND environment = $2 AND external_user_id = $3 AND ${condition}`;
    const batch = await this.nextBatch(isOfUser, entries, this.erasedUntil.get(key));
    // At the end, everything is searched once more: a batch may have been rolled back.
    if (!batch) return this.erasedUntil.delete(key) ? this.eraseEntriesOf(name, condition, user) : 0;
    if (this.erasedUntil.size >= MAX_KNOWN_ERASURES) this.erasedUntil.clear();
    this.erasedUntil.set(key, batch.last);
    const erased = await this.transaction.change(
      `UPDATE request_log SET external_user_id = $4, response_body = NULL, error_message = NULL, ip_address = NULL, user_agent = NULL
        WHERE ${isOfUser} AND created_at BETWEEN $5 AND $6`,
      [...entries, pseudonym, batch.first, batch.last],
    );
    // Another process may have erased these entries since they were found.
    return erased || this.eraseEntriesOf(name, condition, user);
  }

  /**
   * Returns the first and last time of the next entries to erase, which are of one day, so that the statement leaves out the other
   * partitions; undefined if there are none.
   */
  private async nextBatch(
    isOfUser: string,
    entries: readonly string[],
    erasedUntil: Date | undefined,
  ): Promise<{ readonly first: Date; readonly last: Date } | undefined> {
    // Most entries of a user whose data were erased before have nothing to erase, so the search can take long. Without the setting,
    // PostgreSQL reads and sorts all entries that are left if it expects few.
    const search = async (condition: string, ...values: unknown[]): Promise<Date | undefined> => {
      const [row] = await this.transaction.readUntimed<{ time: Date }>(
        `SELECT created_at AS time FROM request_log WHERE ${isOfUser} AND ${condition} LIMIT 1`,
        [...entries, ...values],
        'SET LOCAL enable_sort = off',
      );
      return row?.time;
    };
    const first = await search('created_at >= $4 ORDER BY created_at', erasedUntil ?? '-infinity');
    if (!first) return undefined;
    const endOfDay = new Date((Math.floor(first.getTime() / DAY) + 1) * DAY - 1);
    // Known bounds are found in the index, whatever PostgreSQL knows about the table.
    const last = await search(
      'created_at BETWEEN $4 AND $5 ORDER BY created_at OFFSET $6',
      first,
      endOfDay,
      ENTRIES_PER_ERASURE - 1,
    );
    return { first, last: last ?? endOfDay };
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
    const [row] = await this.reads.query<Row & Pick<SingleRequestLogEntryResponse, SingleField>>(
      this.database.distribution === 'citus' ? FIND_ON_NODES : FIND,
      [id, clients.map(({ clientId }) => clientId)],
      { timeoutMessage: ENTRY_QUERY_TIMEOUT_MESSAGE },
    );
    return row && entryOf(row);
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

  /** Returns a page of the delivery attempts to an endpoint after the position, until a time, oldest first; empty at the end. */
  attempts(
    { endpointId, clientId }: LoggedEndpoint,
    { createdAt, id }: AttemptPosition,
    until?: Date,
  ): Promise<EndpointAttempt[]> {
    return this.recoveryReads.query<EndpointAttempt>(
      `SELECT id, created_at AS "createdAt", webhook_event_id AS "eventId", reason IS NOT NULL AS "hasFailed"
         FROM request_log
        WHERE client_id = $1 AND webhook_endpoint_id = $2 AND created_at >= $3 AND (created_at, id) > ($3, $4)
          AND created_at <= COALESCE($5::timestamptz, 'infinity')
        ORDER BY created_at, id
        LIMIT ${ATTEMPTS_PER_PAGE}`,
      [clientId, endpointId, createdAt, id, until],
    );
  }

  /** Returns the time of the last delivery attempt to an endpoint; null if there was none. */
  async lastAttemptAt({ endpointId, clientId }: LoggedEndpoint): Promise<Date | null> {
    const [row] = await this.recoveryReads.query<{ readonly last: Date | null }>(
      'SELECT max(created_at) AS last FROM request_log WHERE client_id = $1 AND webhook_endpoint_id = $2',
      [clientId, endpointId],
    );
    return row?.last ?? null;
  }

  /**
   * Returns those of the events whose last attempt at the endpoint since the time has succeeded. Within a transaction, uses its
   * connection: a transaction that holds a lock must not wait for another connection.
   */
  async receivedAmong(
    { endpointId, clientId, environment }: LoggedEndpoint & AttributedClient,
    eventIds: readonly string[],
    since: Date,
  ): Promise<string[]> {
    if (eventIds.length === 0) return [];
    const statement = `SELECT "eventId"
         FROM (SELECT DISTINCT ON (webhook_event_id) webhook_event_id AS "eventId", reason
                 FROM request_log
                WHERE client_id = $1 AND environment = $2 AND webhook_event_id = ANY ($3) AND webhook_endpoint_id = $4
                  AND created_at >= $5
                ORDER BY webhook_event_id, created_at DESC, id DESC) last
        WHERE reason IS NULL`;
    const values = [clientId, environment, eventIds, endpointId, since];
    const rows = await (this.transaction.isOpen
      ? this.transaction.manager.query<{ readonly eventId: string }[]>(statement, values)
      : this.recoveryReads.query<{ readonly eventId: string }>(statement, values));
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

  /** Returns the 95th percentile of the latency of the newest attempts of an endpoint, in milliseconds; null if there are none. */
  async latencyOf({ clientId, environment }: AttributedClient, endpointId: string): Promise<number | null> {
    const [found] = await this.reads.query<{ readonly latency: number | null }>(
      `SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS latency
         FROM (SELECT latency_ms FROM request_log
                WHERE client_id = $1 AND environment = $2 AND webhook_endpoint_id = $3
                ORDER BY created_at DESC LIMIT ${ATTEMPTS_PER_PAGE}) attempt`,
      [clientId, environment, endpointId],
    );
    return found?.latency ?? null;
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
    .map(({ name, column = name, condition = (value) => `${column} = ${value}` }, index) =>
      condition(`$${firstParameter + index}`),
    )
    .map((condition) => ` AND ${condition}`)
    .concat(outcome)
    .join('');
}

/** Changes the row: copying it would take longer than all the rest. */
function entryOf<Found extends Row>(row: Found): Omit<Found, keyof Row> & RequestLogEntry {
  const { id, task_id: taskId } = row;
  return Object.assign(row, { id: Number(id), task_id: taskId === null ? null : Number(taskId) });
}
