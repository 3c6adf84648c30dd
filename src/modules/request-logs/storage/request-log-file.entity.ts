import { Entity, Column } from 'typeorm';
import { DeleteAfter, StoredRow } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';

/** A file of saved entries that is part of the log. The file itself is removed afterward. */
@Entity({ name: 'request_log_file' })
export class RequestLogFile extends StoredRow {
  @DeleteAfter((configuration) => configuration.get(RequestLogsConfiguration).retentionDays * DAY)
  @Column({ name: 'written_at', type: 'timestamptz', precision: 3 })
  writtenAt!: Date;
}
