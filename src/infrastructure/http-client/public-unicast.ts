import { isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parsedUrl } from '../urls/index.js';

/**
 * What ipaddr.js takes for ordinary unicast and must still not be reached. Azure answers its virtual
 * machines at 168.63.129.16, whose neighbours are public.
 */
const NOT_PUBLIC_EITHER = [ipaddr.IPv4.parseCIDR('168.63.129.16/32')];

/** Everything that IANA hands out as global unicast; what lies outside embeds or means something else. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is plainly one of the public Internet. Allows and does not forbid: whatever range has
 * a name of its own (IANA's special-purpose registries, RFC 6890) is not public. An IPv4 address in IPv6
 * spelling (`::ffff:127.0.0.1`) is judged as what it is; other addresses that carry one (NAT64, 6to4,
 * Teredo) are refused, because where they lead is decided by somebody else.
 */
export function isPublicUnicast(address: string): boolean {
  const parsed = parse(address);
  if (parsed?.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST);
  return !NOT_PUBLIC_EITHER.some((range) => parsed.match(range));
}

/** Whether two spellings mean one address. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (isIP(one) !== 0 && parse(one)?.toString() === parse(other)?.toString());
}

/** By way of a URL for IPv6: ipaddr.js takes `::8.8.8.8`, as DNS answers are written, for `::ffff:8.8.8.8`. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (isIPv4(address)) return ipaddr.IPv4.parse(address);
  const url = isIPv6(address) ? parsedUrl(`http://[${address}]`) : undefined;
  return url && ipaddr.process(url.hostname.slice(1, -1));
}
