import { Resolver } from 'node:dns';
import { IsIn, IsIP, IsOptional } from 'class-validator';
import { Configuration, EnvironmentVariable, isCertificate, Satisfies, succeeds } from '../config/index.js';
import { parsedUrl } from '../urls/index.js';

function isProxyUrl(value: unknown): boolean {
  const url = typeof value === 'string' ? parsedUrl(value) : undefined;
  return url?.protocol === 'http:' && url.pathname === '/' && url.search === '';
}

function isDnsServerList(value: unknown): boolean {
  return succeeds(() => new Resolver().setServers(value as string[]));
}

/** How requests leave the house. */
@Configuration('Webhook sending')
export class HttpClientConfiguration {
  @EnvironmentVariable(
    'WEBHOOK_TARGETS',
    'Where webhooks may go: `public` https URLs, or `any`, with http and addresses of this machine, for developers and tests. Production refuses `any`.',
  )
  @IsIn(['public', 'any'])
  targets: string = 'public';

  @EnvironmentVariable(
    'WEBHOOK_EGRESS_ADDRESS',
    'Address of this machine that webhooks leave from. Default: as the system routes.',
  )
  @IsOptional()
  @IsIP()
  egressAddress?: string;

  @EnvironmentVariable(
    'WEBHOOK_PROXY_URL',
    'An HTTP proxy that all webhooks go through (CONNECT), as `http://user:password@host:port`. Names are then resolved, and addresses to be refused, by the proxy.',
    { secret: true },
  )
  @IsOptional()
  @Satisfies('isProxyUrl', isProxyUrl, 'proxyUrl must be a URL such as http://user:password@host:3128')
  proxyUrl?: string;

  @EnvironmentVariable(
    'WEBHOOK_DNS_SERVERS',
    'DNS servers that resolve receivers, as `address` or `address:port`, separated by commas. Default: those of the system.',
  )
  @IsOptional()
  @Satisfies(
    'isDnsServerList',
    isDnsServerList,
    'dnsServers must be a list of addresses such as 10.0.0.2 or 10.0.0.2:53',
  )
  dnsServers?: string[];

  @EnvironmentVariable(
    'WEBHOOK_EXTRA_CA',
    'Certificate of an authority (PEM) that is trusted beside the usual ones, for receivers with a private one.',
  )
  @IsOptional()
  @Satisfies('isCertificate', isCertificate, 'extraAuthority must be a certificate in PEM')
  extraAuthority?: string;

  get allowsAnyTarget(): boolean {
    return this.targets === 'any';
  }
}
