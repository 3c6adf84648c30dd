import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DAY } from '../../infrastructure/time/index.js';
import { RequestLogStore, type NewRequestLogEntry } from './request-log-store.js';

/** Partitions made ahead, so that a worker that is down for a weekend does no harm. */
const DAYS_AHEAD = 7;
const PARTITION = /^request_log_(\d{4})(\d{2})(\d{2})$/;

/** Request log entries in PostgreSQL, partitioned by day of creation in UTC. */
@Injectable()
export class PostgresRequestLogRepository extends RequestLogStore {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async append(entries: readonly NewRequestLogEntry[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, url, event,
                                status_code, latency_ms, session_id, task_id, external_user_id)
       SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
                            $7::text[], $8::text[], $9::smallint[], $10::integer[], $11::uuid[],
                            $12::bigint[], $13::text[])`,
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
      ],
    );
  }

  async rotate(now: Date, retentionDays: number): Promise<void> {
    const partitions = await this.partitions();
    const today = startOfDay(now);
    for (let day = -1; day <= DAYS_AHEAD; day += 1) {
      const start = new Date(today.getTime() + day * DAY);
      if (!partitions.has(partitionName(start))) await this.createPartition(start);
    }
    const oldestKept = new Date(today.getTime() - retentionDays * DAY);
    await this.dataSource.query('DELETE FROM request_log_default WHERE created_at < $1', [oldestKept]);
    for (const [name, start] of partitions) {
      if (start < oldestKept) await this.dataSource.query(`DROP TABLE ${name}`);
    }
  }

  private async partitions(): Promise<Map<string, Date>> {
    const rows = await this.dataSource.query<{ name: string }[]>(
      `SELECT child.relname AS name FROM pg_inherits
         JOIN pg_class child ON child.oid = pg_inherits.inhrelid
        WHERE pg_inherits.inhparent = 'request_log'::regclass`,
    );
    return new Map(
      rows.flatMap(({ name }) => {
        const [, year, month, day] = PARTITION.exec(name) ?? [];
        return year ? [[name, new Date(`${year}-${month}-${day}T00:00:00Z`)]] : [];
      }),
    );
  }

  /** Entries of that day that had to go to the default partition move over; PostgreSQL insists on it. */
  private async createPartition(start: Date): Promise<void> {
    const name = partitionName(start);
    const from = start.toISOString();
    const to = new Date(start.getTime() + DAY).toISOString();
    await this.dataSource.transaction(async (transaction) => {
      // Nobody may add one between moving them and attaching the partition.
      await transaction.query('LOCK TABLE request_log_default IN ACCESS EXCLUSIVE MODE');
      await transaction.query(
        `CREATE TABLE ${name} (LIKE request_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`,
      );
      await transaction.query(
        `WITH stray AS (DELETE FROM request_log_default WHERE created_at >= $1 AND created_at < $2 RETURNING *)
         INSERT INTO ${name} SELECT * FROM stray`,
        [from, to],
      );
      await transaction.query(
        `ALTER TABLE request_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
    });
  }
}

function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY) * DAY);
}

function partitionName(start: Date): string {
  return `request_log_${start.toISOString().slice(0, 10).replaceAll('-', '')}`;
}
