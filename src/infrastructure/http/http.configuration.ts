import { IsString } from 'class-validator';
import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../config/index.js';

@Configuration('HTTP')
export class HttpConfiguration {
  @EnvironmentVariable('PORT', 'TCP port to listen on. 0 selects a free port.')
  @IsIntegerBetween(0, 65_535)
  port: number = 3000;

  @EnvironmentVariable('HOST', 'Address to listen on. Default: 127.0.0.1, or all addresses in production.')
  @IsString()
  host?: string;

  @EnvironmentVariable(
    'TRUSTED_PROXY_HOPS',
    'Number of reverse proxies in front of the service. The service reads the client’s address from `X-Forwarded-For`, counting this many entries from the end.',
  )
  @IsIntegerBetween(0, 10)
  trustedProxyHops: number = 0;

  @EnvironmentVariable(
    'SHUTDOWN_DELAY_MS',
    'Milliseconds for which a stopping process keeps serving while `/readyz` responds with 503. Set it longer than your load balancer takes to notice.',
  )
  @IsIntegerBetween(0, 60_000)
  shutdownDelayMilliseconds: number = 0;
}
