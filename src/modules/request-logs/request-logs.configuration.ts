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
}
