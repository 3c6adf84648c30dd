import { isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parsedUrl } from '../urls/index.js';

/**
 * Addresses that ipaddr.js considers ordinary unicast but that must not be reached. 168.63.129.16 is the
 * internal service address of Azure; the addresses around it are public.
 */
const OTHER_PRIVATE_RANGES = [ipaddr.IPv4.parseCIDR('168.63.129.16/32')];

/** Everything that IANA assigns as global unicast. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Returns whether an address is an ordinary address of the public Internet. This is an allowlist: ranges of
 * IANA's special-purpose registries (RFC 6890) are not public. An IPv4-mapped address (`::ffff:127.0.0.1`) is
 * checked as the IPv4 address. Other addresses that embed an IPv4 address (NAT64, 6to4, Teredo) are rejected,
 * because their gateways decide where they lead.
 */
export function isPublicUnicast(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST);
  return !OTHER_PRIVATE_RANGES.some((range) => parsed.match(range));
}

/** Returns whether two spellings denote the same address. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (isIP(one) !== 0 && parse(one)?.toString() === parse(other)?.toString());
}

/** Parses IPv6 addresses through a URL, because ipaddr.js mistakes `::8.8.8.8` for `::ffff:8.8.8.8`. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (isIPv4(address)) return ipaddr.IPv4.parse(address);
  const url = isIPv6(address) ? parsedUrl(`http://[${address}]`) : undefined;
  return url && ipaddr.process(url.hostname.slice(1, -1));
}
