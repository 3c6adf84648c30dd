import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

@Configuration('HTTP')
export class HttpConfiguration {
  @EnvironmentVariable('PORT', 'TCP port to listen on; 0 takes a free one.')
  @IsInt()
  @Min(0)
  @Max(65_535)
  port: number = 3000;

  @EnvironmentVariable('HOST', 'Address to listen on. Default: 127.0.0.1, in production all addresses.')
  @IsOptional()
  @IsString()
  host?: string;

  @EnvironmentVariable(
    'TRUSTED_PROXY_HOPS',
    'How many reverse proxies stand in front; the client’s address is taken from X-Forwarded-For that many steps back.',
  )
  @IsInt()
  @Min(0)
  @Max(10)
  trustedProxyHops: number = 0;

  @EnvironmentVariable(
    'SHUTDOWN_DELAY_MS',
    'How long a process that is told to stop goes on to serve, while `/readyz` answers 503: longer than a load balancer takes to notice.',
  )
  @IsInt()
  @Min(0)
  @Max(60_000)
  shutdownDelayMilliseconds: number = 0;
}
