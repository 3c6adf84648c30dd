import { IsNumber, Matches, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable, IsHttpUrl } from '../config/index.js';

/** Names and values follow the OpenTelemetry specification. */
@Configuration('Traces')
export class TracingConfiguration {
  @EnvironmentVariable(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'URL of a collector that accepts OTLP over HTTP, such as `http://collector:4318`. Without it, tracing is disabled.',
  )
  @IsHttpUrl('http://collector:4318')
  endpoint?: string;

  @EnvironmentVariable(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers for the collector, as `name=value`, separated by commas. Encode special characters as %XX.',
    { secret: true },
  )
  @Matches(/^\s*[\w-]+=[^,]*(?:,\s*[\w-]+=[^,]*)*$/, {
    message: 'headers must be name=value, separated by commas',
  })
  headers?: string;

  @EnvironmentVariable('OTEL_SERVICE_NAME', 'Name of this service in traces.')
  serviceName: string = 'merchant-connectivity-service';

  @EnvironmentVariable(
    'OTEL_TRACES_SAMPLER_ARG',
    'Share of traces that are kept, from 0 to 1. The sampling decision of the client is ignored.',
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
