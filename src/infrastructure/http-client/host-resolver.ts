import { lookup, Resolver } from 'node:dns/promises';
import type { HttpClientConfiguration } from './http-client.configuration.js';
import { addressIn } from './public-url.js';
import { isPublicUnicast } from './public-unicast.js';
import { FORBIDDEN_ADDRESS, UNRESOLVED } from './transport-failure.js';
import { withDeadline } from './time-limit.js';

/** Milliseconds for one question to one server, asked twice, and for all of it. */
const QUESTION_TIMEOUT = 1000;
const TRIES = 2;
const TIMEOUT = 3000;

/**
 * The addresses of a receiver, each of them allowed. Asks DNS itself: `dns.lookup` would hold one of the
 * four threads of the process until the system gives up, so that four dead names stopped all others.
 */
export class HostResolver {
  private readonly resolver = new Resolver({ timeout: QUESTION_TIMEOUT, tries: TRIES });

  constructor(private readonly configuration: HttpClientConfiguration) {
    if (configuration.dnsServers !== undefined) this.resolver.setServers(configuration.dnsServers);
  }

  /**
   * @throws TransportError `DNS` when there is no address, `FORBIDDEN_ADDRESS` when one of them is not
   * public: whoever names a private address among public ones wants to be connected to it by chance.
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
    // A developer's names are in /etc/hosts, where DNS does not look.
    const { allowsAnyTarget, dnsServers } = this.configuration;
    if (allowsAnyTarget && dnsServers === undefined) return addressesOfSystem(hostname);
    return this.addressesOfDns(hostname);
  }

  /** One family is enough to go on with: some servers never answer for the other. */
  private async addressesOfDns(name: string): Promise<readonly string[]> {
    const answers = await Promise.allSettled([this.resolver.resolve4(name), this.resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  }
}

async function addressesOfSystem(hostname: string): Promise<readonly string[]> {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch {
    throw UNRESOLVED;
  }
}
