import { Injectable } from '@nestjs/common';
import { DailyPartitions, Transaction } from '../../infrastructure/database/index.js';
import { RequestLogStore, type NewRequestLogEntry } from './request-log-store.js';

/** Request log entries in PostgreSQL, partitioned by day of creation in UTC. */
@Injectable()
export class PostgresRequestLogRepository extends RequestLogStore {
  constructor(
    private readonly transaction: Transaction,
    private readonly partitions: DailyPartitions,
  ) {
    super();
  }

  async append(entries: readonly NewRequestLogEntry[]): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, url, event,
                                status_code, latency_ms, session_id, task_id, external_user_id, webhook_endpoint_id,
                                webhook_event_id, attempt, reason, dns_ms, connect_ms, tls_ms, first_byte_ms)
       SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
                            $7::text[], $8::text[], $9::smallint[], $10::integer[], $11::uuid[],
                            $12::bigint[], $13::text[], $14::uuid[], $15::uuid[], $16::smallint[], $17::text[],
                            $18::integer[], $19::integer[], $20::integer[], $21::integer[])`,
      [
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
      ],
    );
  }

  async failedEvents(
    endpointId: string,
    since: Date,
    { after, most }: { readonly after: string | undefined; readonly most: number },
  ): Promise<string[]> {
    const rows = await this.transaction.manager.query<{ id: string }[]>(
      `SELECT webhook_event_id AS id FROM request_log
        WHERE webhook_endpoint_id = $1 AND created_at >= $2 AND ($3::uuid IS NULL OR webhook_event_id > $3)
        GROUP BY webhook_event_id
       HAVING bool_and(reason IS NOT NULL)
        ORDER BY webhook_event_id
        LIMIT $4`,
      [endpointId, since, after, most],
    );
    return rows.map(({ id }) => id);
  }

  async rotate(now: Date, retentionDays: number): Promise<void> {
    await this.partitions.rotate('request_log', now, retentionDays);
  }
}
