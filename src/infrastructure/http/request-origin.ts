import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { requestParameter } from './request-context.js';

/** Where a request came from. */
export interface RequestOrigin {
  /** The client's address as seen by the outermost trusted proxy. */
  readonly ip: string;
  readonly userAgent: string;
}

/** Characters. Browsers send about a quarter of that. */
const MAX_USER_AGENT_LENGTH = 512;

/** Returns the IP address and user agent of the client. */
export function requestOrigin(request: Request): RequestOrigin {
  return {
    // If the server listens on both address families, the address of an IPv4 client is `::ffff:` and the IPv4 address.
    ip: (request.ip ?? '').replace(/^::ffff:(?=\d+\.)/, ''),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT_LENGTH),
  };
}

/** Handler parameter: the origin of the request. */
export const Origin = requestParameter(requestOrigin);

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
