import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that one subscriber has to itself. */
const IPV6_SUBSCRIBER_PREFIX = 64;

/** Whom an address belongs to, whichever way a proxy spells it: whom limits per address count. IPv4 one by one. */
export function rateLimitKeyOfAddress(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SUBSCRIBER_PREFIX}`).toString();
}
