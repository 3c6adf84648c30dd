import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Request logs')
export class RequestLogsConfiguration {
  @EnvironmentVariable('REQUEST_LOG_RETENTION_DAYS', 'Number of days that request log entries are kept.')
  @IsIntegerBetween(1, 3650)
  retentionDays: number = 30;

  @EnvironmentVariable(
    'REQUEST_LOG_BUFFER',
    'Maximum number of entries that wait in memory while the database is slow or unavailable. When the buffer is full, a new entry replaces the oldest.',
  )
  @IsIntegerBetween(100, 10_000_000)
  bufferedEntries: number = 50_000;

  @EnvironmentVariable(
    'REQUEST_LOG_QUERY_TIMEOUT_MS',
    'Time limit in milliseconds for a request log query, applied first to waiting for a connection and then separately to running. A query that exceeds either fails with `REQUEST_LOG_QUERY_TIMEOUT`.',
  )
  @IsIntegerBetween(100, 600_000)
  queryTimeoutMilliseconds: number = 5_000;

  @EnvironmentVariable(
    'REQUEST_LOG_CONNECTIONS',
    'Number of connections reserved for queries of the request log, so that they do not block other requests.',
  )
  @IsIntegerBetween(1, 100)
  readConnections: number = 2;
}
