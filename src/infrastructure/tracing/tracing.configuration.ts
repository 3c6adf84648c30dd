import { IsNumber, IsOptional, IsUrl, Matches, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../config/index.js';

/** Names and values as the specification of OpenTelemetry has them; whoever runs a collector knows them. */
@Configuration('Traces')
export class TracingConfiguration {
  @EnvironmentVariable(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Where traces are sent: a collector that takes OTLP over HTTP, as `http://collector:4318`. Without it there are none.',
  )
  @IsOptional()
  @IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'] })
  endpoint?: string;

  @EnvironmentVariable(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers that the collector asks for, as `name=value`, separated by commas; special characters are written as %XX.',
    { secret: true },
  )
  @IsOptional()
  @Matches(/^\s*[\w-]+=[^,]*(?:,\s*[\w-]+=[^,]*)*$/, {
    message: 'headers must be name=value, separated by commas',
  })
  headers?: string;

  @EnvironmentVariable('OTEL_SERVICE_NAME', 'What this service is called in traces.')
  serviceName: string = 'merchant-connectivity-service';

  @EnvironmentVariable(
    'OTEL_TRACES_SAMPLER_ARG',
    'Which share of traces is kept, from 0 to 1. Whether the caller keeps theirs does not matter.',
  )
  @IsNumber()
  @Min(0)
  @Max(1)
  sampledShare: number = 1;

  get headerFields(): Record<string, string> {
    const pairs = (this.headers ?? '').split(',').filter((pair) => pair.trim() !== '');
    return Object.fromEntries(
      pairs.map((pair) => {
        const end = pair.indexOf('=');
        return [pair.slice(0, end).trim(), decoded(pair.slice(end + 1).trim())];
      }),
    );
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
