import { isIP, isIPv4 } from 'node:net';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { usualAddress } from '../http-client/index.js';
import { requestParameter } from './request-context.js';

/** Where a request came from. */
export interface RequestOrigin {
  /** The client's address as seen by the outermost trusted proxy, without a port. */
  readonly ip: string;
  readonly userAgent: string;
}

/** Characters. Browsers send about a quarter of that. */
const MAX_USER_AGENT_LENGTH = 512;

/** Returns the IP address and user agent of the client. */
export function requestOrigin(request: Request): RequestOrigin {
  return {
    ip: clientAddress(request),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH),
  };
}

/**
 * Returns the client's IP address in its canonical spelling, so that it counts and reads the same however a proxy writes it. If
 * the proxy wrote something else, such as `unknown`, returns the address of the connection. Ignores the header `Forwarded`,
 * which proxies that write `X-Forwarded-For` pass on as the client sent it.
 */
export function clientAddress(request: Request): string {
  return addressInEntry(request.ip) ?? addressInEntry(request.socket.remoteAddress) ?? '';
}

/** The prefix of IPv4 addresses on a socket for both address families. */
const MAPPED = '::ffff:';

/**
 * Returns the address in an entry of `X-Forwarded-For`. Some proxies add a port, and write IPv6 addresses in brackets, with a
 * zone, or quoted as in `Forwarded` (RFC 7239). If the server listens on both address families, the address of an IPv4 client
 * begins with `::ffff:`. Behind a translator (NAT64), it is in a prefix that all IPv4 clients share.
 */
function addressInEntry(entry = ''): string | undefined {
  // Nearly all: parsing takes several microseconds, of every request.
  const written = entry.startsWith(MAPPED) ? entry.slice(MAPPED.length) : entry;
  if (isIPv4(written)) return written;
  const text = entry.trim().replace(/^"(.*)"$/, '$1');
  const bracketed = /^\[(.*)\](?::\w*)?$/.exec(text)?.[1];
  const candidates = bracketed === undefined ? [text, text.replace(/:[^:]*$/, '')] : [bracketed];
  const address = candidates
    .map((candidate) => candidate.replace(/%.*$/, ''))
    .find((candidate) => isIP(candidate));
  return address === undefined ? undefined : usualAddress(address);
}

export const Origin = requestParameter(requestOrigin);

/** Length of the IPv6 prefix that one subscriber controls. */
const IPV6_SUBSCRIBER_PREFIX = 64;
/** Length of the IPv6 prefix that a network usually has. */
const IPV6_NETWORK_PREFIX = 32;

/**
 * Returns the key under which rate limits count an IP address: the IPv4 address, or the IPv6 prefix of the subscriber. A host with 6to4
 * (RFC 3056) has 65,536 such prefixes, and hosts with Teredo (RFC 4380) share one: they count by the IPv4 address inside.
 */
export function rateLimitKeyOfAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.IPv6.parse(address);
  const bytes = parsed.toByteArray();
  if (parsed.range() === '6to4') return bytes.slice(2, 6).join('.');
  if (parsed.range() === 'teredo')
    return bytes
      .slice(12)
      .map((byte) => 255 - byte)
      .join('.');
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_SUBSCRIBER_PREFIX}`).toString();
}

/** Returns the network of an address: the prefix of an IPv6 network, or the IPv4 address itself, of which nobody has very many. */
export function networkOfAddress(address: string): string {
  return isIP(address) === 6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_NETWORK_PREFIX}`).toString()
    : address;
}
