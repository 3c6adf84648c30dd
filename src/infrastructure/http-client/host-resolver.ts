import { lookup, Resolver } from 'node:dns/promises';
import { SECOND } from '../time/index.js';
import type { HttpClientConfiguration } from './http-client.configuration.js';
import { addressIn } from './public-url.js';
import { isPublicUnicast } from './public-unicast.js';
import { FORBIDDEN_ADDRESS, UNRESOLVED } from './transport-error.js';
import { withDeadline } from './deadline.js';

/** Milliseconds per query to one server. */
const QUERY_TIMEOUT = SECOND;
/** Queries per server. */
const TRIES = 2;
/** Milliseconds for the whole resolution. */
const TIMEOUT = 3 * SECOND;

/**
 * Resolves the host name of a receiver and checks every address. Queries DNS directly, because `dns.lookup` occupies one
 * of libuv's four threads until the system resolver times out, so four host names that do not respond would block all
 * other lookups.
 */
export class HostResolver {
  private readonly resolver = new Resolver({ timeout: QUERY_TIMEOUT, tries: TRIES });

  constructor(private readonly configuration: HttpClientConfiguration) {
    if (configuration.dnsServers !== undefined) this.resolver.setServers(configuration.dnsServers);
  }

  /**
   * @throws TransportError `DNS` if there is no address, `FORBIDDEN_ADDRESS` if any address is not public: a host that
   * lists a private address among public ones may be trying to make the service connect to the private one.
   */
  async resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = await withDeadline(TIMEOUT, UNRESOLVED, signal, () => this.addressesOf(hostname));
    if (addresses.length === 0) throw UNRESOLVED;
    if (!this.configuration.allowsAnyTarget && !addresses.every(isPublicUnicast)) throw FORBIDDEN_ADDRESS;
    return addresses;
  }

  private async addressesOf(hostname: string): Promise<readonly string[]> {
    const literal = addressIn(hostname);
    if (literal !== undefined) return [literal];
    // Developers define host names in /etc/hosts, which DNS does not know.
    const { allowsAnyTarget, dnsServers } = this.configuration;
    if (allowsAnyTarget && dnsServers === undefined) return systemAddressesOf(hostname);
    return this.dnsAddressesOf(hostname);
  }

  /**
   * Returns the addresses of both families. One family is enough, because some servers never respond to queries for the
   * other.
   */
  private async dnsAddressesOf(name: string): Promise<readonly string[]> {
    const results = await Promise.allSettled([this.resolver.resolve4(name), this.resolver.resolve6(name)]);
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  }
}

async function systemAddressesOf(hostname: string): Promise<readonly string[]> {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch {
    throw UNRESOLVED;
  }
}
