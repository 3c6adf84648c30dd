import { Matches, IsNumber, Min, Max } from 'class-validator';
import {
  Configuration,
  EnvironmentVariable,
  IsHttpUrl,
  isOtherMachine,
  parsedUrl,
  percentDecoded,
  type EncryptionRules,
} from '../config/index.js';
import { VERSION } from '../project-files/index.js';

const NAME = 'merchant-connectivity-service';
const HEADERS = /^\s*[\w-]+\s*=[^,]*(?:,\s*(?:[\w-]+\s*=[^,]*)?)*$/;
/** Names of attributes can have all characters, such as those of `app.kubernetes.io/name`. */
const ATTRIBUTES = /^\s*[^\s=,]+\s*=[^,]*(?:,\s*(?:[^\s=,]+\s*=[^,]*)?)*$/;
const NO_PAIRS = { message: '$property must be name=value, separated by commas' };

/** Names and values follow the OpenTelemetry specification. */
@Configuration('Traces')
export class TracingConfiguration implements EncryptionRules {
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
  @Matches(HEADERS, NO_PAIRS)
  headers?: string;

  @EnvironmentVariable(
    'OTEL_RESOURCE_ATTRIBUTES',
    'Attributes of this service in traces, such as `deployment.environment.name=production`, separated by commas. Encode special characters as %XX.',
  )
  @Matches(ATTRIBUTES, NO_PAIRS)
  resourceAttributes?: string;

  @EnvironmentVariable('OTEL_SERVICE_NAME', `Name of this service in traces. Default: \`${NAME}\`.`)
  serviceName?: string;

  @EnvironmentVariable(
    'OTEL_TRACES_SAMPLER_ARG',
    'Share of traces that are kept, from 0 to 1. The sampling decision of the client is ignored.',
  )
  @IsNumber()
  @Min(0)
  @Max(1)
  sampledShare: number = 1;

  /** The headers are secret. */
  unencryptedSettings(): string[] {
    const url = parsedUrl(this.endpoint ?? '');
    const isPlain = this.headers !== undefined && url?.protocol === 'http:' && isOtherMachine(url.hostname);
    return isPlain ? ['OTEL_EXPORTER_OTLP_ENDPOINT'] : [];
  }

  get headerFields(): Record<string, string> {
    return fieldsIn(this.headers);
  }

  get resource(): Record<string, string> {
    const own = { 'service.name': NAME, 'service.version': VERSION, ...fieldsIn(this.resourceAttributes) };
    return this.serviceName === undefined ? own : { ...own, 'service.name': this.serviceName };
  }
}

function fieldsIn(text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.indexOf('=');
      const value = pair.slice(end + 1).trim();
      return [pair.slice(0, end).trim(), percentDecoded(value) ?? value];
    }),
  );
}
