import ipaddr from 'ipaddr.js';

/** Length of the IPv6 prefix that one subscriber controls. */
const IPV6_SUBSCRIBER_PREFIX = 64;

/**
 * Returns the key under which rate limits count an IP address: the IPv4 address, or the IPv6 prefix of the subscriber.
 */
export function rateLimitKeyOfAddress(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SUBSCRIBER_PREFIX}`).toString();
}
