import {
  Configuration,
  EnvironmentVariable,
  IsIntegerBetween,
  IsListenAddress,
  isLoopback,
  parsedUrl,
  Satisfies,
  ServiceConfiguration,
  type FurtherRules,
  type LoadedConfiguration,
  type ProductionRules,
} from '../config/index.js';
import { MetricsConfiguration } from '../metrics/index.js';

/** Origins of extensions and apps, such as `chrome-extension://<id>` and `capacitor://localhost`: `URL` knows no origin of theirs. */
const APP_ORIGIN = /^(?!(?:https?|wss?|ftp|file):)[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/;

/**
 * Browsers send the origin in exactly this spelling, and `null` for pages without one, such as local files. A URL may contain a
 * wildcard, which would match nothing.
 */
function areOrigins(values: unknown): boolean {
  return (values as string[]).every(
    (value) =>
      ['*', 'null'].includes(value) ||
      APP_ORIGIN.test(value) ||
      (/^https?:[^*]+$/.test(value) && parsedUrl(value)?.origin === value),
  );
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

@Configuration('HTTP')
export class HttpConfiguration implements FurtherRules, ProductionRules {
  @EnvironmentVariable('PORT', 'TCP port to listen on. 0 selects a free port.')
  @IsIntegerBetween(0, 65_535)
  port: number = 3000;

  @EnvironmentVariable(
    'HOST',
    'Address to listen on. Default: 127.0.0.1, or all addresses (`::`) in production. On a machine without IPv6, `::` means all IPv4 addresses.',
  )
  @IsListenAddress()
  host?: string;

  @EnvironmentVariable(
    'TRUSTED_PROXY_HOPS',
    'Number of reverse proxies in front of the service. The service reads the client’s address from `X-Forwarded-For`, counting this many entries from the end. An entry that is no address counts as the proxy. The header `Forwarded` is ignored.',
  )
  @IsIntegerBetween(0, 10)
  trustedProxyHops: number = 0;

  @EnvironmentVariable(
    'CORS_ORIGINS',
    'Comma-separated list of origins whose pages may request `POST /session/open`, `POST /apply`, the agent connector (`POST /mcp`, and what agents request to log in) and the API document (`GET /openapi.json`, `/openapi-3.0.json` and `/openapi.yaml`) in a browser, such as `https://careers.example.com` or, of an extension or app, `chrome-extension://<id>` or `capacitor://localhost`; `*` for all. `null` allows every page without an origin: local files, and what any site shows in a sandbox. The default is the origins of this machine (`localhost`, `127.0.0.1`) and `null`; in production, none. Cookies are never allowed.',
  )
  @Satisfies(
    areOrigins,
    'corsOrigins must be `*` or a list of origins without a path, such as https://careers.example.com',
  )
  corsOrigins?: string[];

  @EnvironmentVariable(
    'SHUTDOWN_DELAY_MS',
    'Milliseconds for which a stopping process keeps serving while `/readyz` responds with 503. Set it longer than your load balancer takes to notice.',
  )
  @IsIntegerBetween(0, 60_000)
  shutdownDelayMilliseconds: number = 0;

  @EnvironmentVariable(
    'KEEP_ALIVE_SECONDS',
    'Seconds for which an idle connection stays open. Set it longer than the load balancer keeps idle connections, or its request can meet a connection that is closing, and the client gets 502: 620 for Google Cloud, whose load balancers keep them for 600 seconds. The default suits AWS and nginx (60 seconds).',
  )
  @IsIntegerBetween(1, 3_600)
  keepAliveSeconds: number = 65;

  address({ isProduction }: ServiceConfiguration): string {
    return this.host ?? (isProduction ? '::' : '127.0.0.1');
  }

  /** Two servers of one process would compete for the port. The error would then blame another program. */
  furtherProblems(configuration: LoadedConfiguration, servesHttp: boolean): string[] {
    const { host, port } = configuration.get(MetricsConfiguration);
    const address = this.address(configuration.get(ServiceConfiguration));
    const overlaps = host === address || [host, address].some((each) => EVERY_ADDRESS.has(each));
    return servesHttp && port !== 0 && port === this.port && overlaps
      ? [`METRICS_PORT must differ from PORT, which is also ${port}.`]
      : [];
  }

  /** `http` is accepted for a trial on one machine: if neither the address nor the port can be reached from another one. */
  productionProblems({
    platformUrl,
    connectorUrl,
    dashboardUrl,
    careersUrl,
  }: ServiceConfiguration): string[] {
    const addresses = Object.entries({
      PLATFORM_URL: platformUrl,
      CONNECTOR_URL: connectorUrl,
      DASHBOARD_URL: dashboardUrl,
      CAREERS_URL: careersUrl,
    });
    return addresses.flatMap(([name, address = '']) => {
      const url = parsedUrl(address);
      if (url?.protocol !== 'http:') return [];
      return isLoopback(url.hostname) && isLoopback(this.host ?? '')
        ? []
        : [
            `${name} must begin with https:// in production. http:// is accepted only if both ${name} and HOST are addresses of this machine, such as 127.0.0.1.`,
          ];
    });
  }
}
