import { IsInt, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../../infrastructure/config/index.js';

@Configuration('Request logs')
export class RequestLogsConfiguration {
  @EnvironmentVariable('REQUEST_LOG_RETENTION_DAYS', 'Days for which request log entries are kept.')
  @IsInt()
  @Min(1)
  @Max(3650)
  retentionDays: number = 30;

  @EnvironmentVariable(
    'REQUEST_LOG_BUFFER',
    'Entries that may wait in memory while the store is slow or away; one more drops the oldest.',
  )
  @IsInt()
  @Min(100)
  @Max(10_000_000)
  bufferedEntries: number = 50_000;

  @EnvironmentVariable(
    'REQUEST_LOG_QUERY_TIMEOUT_MS',
    'How long a query of the log may run, and how long it may wait for a connection before that; then it is answered `REQUEST_LOG_QUERY_TIMEOUT`.',
  )
  @IsInt()
  @Min(100)
  @Max(600_000)
  queryTimeoutMilliseconds: number = 5_000;

  @EnvironmentVariable(
    'REQUEST_LOG_CONNECTIONS',
    'Connections that queries of the log have to themselves, so that they hold up nothing else.',
  )
  @IsInt()
  @Min(1)
  @Max(100)
  readConnections: number = 2;

  /** Whether partitions are created at startup. Operator commands disable it, to show the partitions as they are. */
  rotateOnStart = true;
}
