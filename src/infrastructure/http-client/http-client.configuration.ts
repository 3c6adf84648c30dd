import { IsIn, IsIP } from 'class-validator';
import {
  Configuration,
  EnvironmentVariable,
  isCertificate,
  isDnsServerList,
  parsedUrl,
  Satisfies,
  type ProductionRules,
} from '../config/index.js';

function isProxyUrl(value: unknown): boolean {
  const url = typeof value === 'string' ? parsedUrl(value) : undefined;
  return url?.protocol === 'http:' && url.pathname === '/' && url.search === '';
}

@Configuration('Outbound requests')
export class HttpClientConfiguration implements ProductionRules {
  @EnvironmentVariable(
    'WEBHOOK_TARGETS',
    'Allowed webhook URLs: `public` allows public https URLs only. `any` also allows http and private addresses, for development and tests; production rejects it.',
  )
  @IsIn(['public', 'any'])
  targets: string = 'public';

  @EnvironmentVariable(
    'WEBHOOK_EGRESS_ADDRESS',
    'Local address that webhooks are sent from. Default: chosen by the operating system.',
  )
  @IsIP()
  egressAddress?: string;

  @EnvironmentVariable(
    'OUTBOUND_PROXY_URL',
    'HTTP proxy (CONNECT) for webhooks and all other requests to addresses that customers choose, as `http://user:password@host:port`. The proxy then resolves the host names and must reject private addresses. Its former name `WEBHOOK_PROXY_URL` works, too.',
    { secret: true, formerName: 'WEBHOOK_PROXY_URL' },
  )
  @Satisfies(isProxyUrl, 'proxyUrl must be a URL such as http://user:password@host:3128')
  proxyUrl?: string;

  @EnvironmentVariable(
    'WEBHOOK_DNS_SERVERS',
    'DNS servers that resolve the host names of webhooks, as `address` or `address:port`, separated by commas. Default: the servers of the system.',
  )
  @Satisfies(isDnsServerList, 'dnsServers must be a list of addresses such as 10.0.0.2 or 10.0.0.2:53')
  dnsServers?: string[];

  @EnvironmentVariable(
    'WEBHOOK_EXTRA_CA',
    'Certificate of an additional trusted authority (PEM), for receivers whose certificate was issued by a private authority. For several authorities, or for all connections of the service, set `NODE_EXTRA_CA_CERTS`.',
  )
  @Satisfies(isCertificate, 'extraAuthority must be a certificate in PEM')
  extraAuthority?: string;

  get allowsAnyTarget(): boolean {
    return this.targets === 'any';
  }

  productionProblems(): string[] {
    return this.allowsAnyTarget
      ? [
          'WEBHOOK_TARGETS=any is not allowed in production: clients could send requests to the internal network.',
        ]
      : [];
  }
}
