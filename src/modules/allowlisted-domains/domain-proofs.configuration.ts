import {
  Configuration,
  EnvironmentVariable,
  isDnsServerList,
  Satisfies,
} from '../../infrastructure/config/index.js';

@Configuration('Proofs of domains')
export class DomainProofsConfiguration {
  @EnvironmentVariable(
    'DOMAIN_PROOF_DNS_SERVERS',
    'DNS servers that are asked for the records that prove domains, as `address` or `address:port`, separated by commas. Default: the servers of the system.',
  )
  @Satisfies(isDnsServerList, 'dnsServers must be a list of addresses such as 10.0.0.2 or 10.0.0.2:53')
  dnsServers?: string[];
}
