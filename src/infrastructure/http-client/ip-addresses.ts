import { isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parsedUrl } from '../config/index.js';

/**
 * Addresses that ipaddr.js considers ordinary unicast but that must not be reached. 168.63.129.16 is the
 * internal service address of Azure; the addresses around it are public.
 */
const OTHER_PRIVATE_RANGES = [ipaddr.IPv4.parseCIDR('168.63.129.16/32')];

/** Everything that IANA assigns as global unicast. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Prefixes of translators (NAT64: RFC 6052, section 2.1, and RFC 8215), by which networks without IPv4 reach IPv4 hosts. The prefix for
 * local use may be shorter than its zeros here; the IPv4 address then reads 0.0.0.0, which leads nowhere.
 */
const TRANSLATED = ['64:ff9b::/96', '64:ff9b:1::/96'].map((range) => ipaddr.IPv6.parseCIDR(range));

/**
 * Returns whether an address is an ordinary address of the public Internet. This is an allowlist: ranges of
 * IANA's special-purpose registries (RFC 6890) are not public. An IPv4-mapped address (`::ffff:127.0.0.1`), and one for
 * NAT64, is checked as the IPv4 address. Other addresses that embed an IPv4 address (6to4, Teredo, IPv4-translated) are rejected,
 * because their gateways decide where they lead.
 */
export function isPublicUnicast(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed?.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6)
    return (
      parsed.match(GLOBAL_UNICAST) && (!isIsatap(parsed) || isPublicUnicast(embeddedIn(parsed).toString()))
    );
  return !OTHER_PRIVATE_RANGES.some((range) => parsed.match(range));
}

/** Bytes of the prefixes of translators (RFC 6052, section 2.2). The ninth byte of an address is not part of the IPv4 address. */
const PREFIX_LENGTHS = [4, 5, 6, 7, 8, 12];
const embeddedAfter = (prefix: number, bytes: readonly number[]): string =>
  bytes
    .filter((_, index) => index >= prefix && index !== 8)
    .slice(0, 4)
    .join('.');
/** Addresses of `ipv4only.arpa` (RFC 7050, section 2.2). */
const WELL_KNOWN = ['192.0.0.170', '192.0.0.171'];

/** Returns the bytes of an address, in network order. */
const bytesOf = (address: string): readonly number[] =>
  isIPv6(address) ? ipaddr.IPv6.parse(address).toByteArray() : [];

/** Returns the prefixes of translators in this network, from the addresses that `ipv4only.arpa` has there (RFC 7050, section 3). */
export function translatorsIn(addresses: readonly string[]): readonly (readonly number[])[] {
  return addresses
    .map(bytesOf)
    .flatMap((bytes) =>
      PREFIX_LENGTHS.filter((length) => WELL_KNOWN.includes(embeddedAfter(length, bytes))).map((length) =>
        bytes.slice(0, length),
      ),
    );
}

/** Returns the IPv4 address to which one of the translators leads, or the address itself. */
export function translated(address: string, translators: readonly (readonly number[])[]): string {
  const bytes = bytesOf(address);
  const translator = translators.find((prefix) => prefix.every((byte, index) => byte === bytes[index]));
  return translator === undefined ? address : embeddedAfter(translator.length, bytes);
}

/** Whether a host of a private network unpacks packets to it, and sends them on to the IPv4 address inside (RFC 5214, section 6.1). */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean =>
  [0, 0x200].includes(parts[4] ?? NaN) && parts[5] === 0x5efe;

/** Returns the address in its usual spelling: an IPv4 address if it stands for one (IPv4-mapped, or NAT64). */
export function usualAddress(address: string): string {
  return parseAddress(address)?.toString() ?? address;
}

/** Returns whether two spellings denote the same address. */
export function isSameAddress(one: string, other: string): boolean {
  return (
    one === other || (isIP(one) !== 0 && parseAddress(one)?.toString() === parseAddress(other)?.toString())
  );
}

const embeddedIn = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

/** Parses IPv6 addresses through a URL, because ipaddr.js mistakes `::8.8.8.8` for `::ffff:8.8.8.8`. */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (isIPv4(address)) return ipaddr.IPv4.parse(address);
  const url = isIPv6(address) ? parsedUrl(`http://[${address}]`) : undefined;
  const parsed = url && ipaddr.process(url.hostname.slice(1, -1));
  const isTranslated = parsed instanceof ipaddr.IPv6 && TRANSLATED.some((range) => parsed.match(range));
  return isTranslated ? embeddedIn(parsed) : parsed;
}
