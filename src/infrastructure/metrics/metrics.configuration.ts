import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

@Configuration('Metrics')
export class MetricsConfiguration {
  @EnvironmentVariable(
    'METRICS_PORT',
    'TCP port on which `/metrics` is served, apart from the API; 0 takes a free one. Without it there are no metrics.',
  )
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65_535)
  port?: number;

  @EnvironmentVariable(
    'METRICS_HOST',
    'Address on which `/metrics` is served. Nobody has to log in there: leave it where only Prometheus comes.',
  )
  @IsString()
  host: string = '127.0.0.1';
}
