import { Configuration, EnvironmentVariable, IsIntegerBetween, IsListenAddress } from '../config/index.js';

@Configuration('Metrics')
export class MetricsConfiguration {
  @EnvironmentVariable(
    'METRICS_PORT',
    'TCP port for `/metrics`, separate from the API. 0 selects a free port. Without it, metrics are disabled.',
  )
  @IsIntegerBetween(0, 65535)
  port?: number;

  @EnvironmentVariable(
    'METRICS_HOST',
    'Address for `/metrics`, which requires no credentials. Choose an address that only Prometheus can reach.',
  )
  @IsListenAddress()
  host: string = '127.0.0.1';
}
