import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { usualAddress } from '../../infrastructure/http-client/index.js';

/** Bits before the IPv4 address in an IPv6 address that stands for one: IPv4-mapped, or of a translator (NAT64). */
const MAPPED_PREFIX = 96;

/**
 * Returns a range in its usual spelling, such as `203.0.113.0/24`: with the first address, and of IPv4 if all its addresses stand for
 * one. An address alone is a range of one.
 *
 * @returns undefined if the text is neither
 */
export function normalRange(text: string): string | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  // Without a zone, and without the octal numbers that ipaddr.js accepts.
  if (!isIP(address) || address.includes('%')) return undefined;
  const usual = usualAddress(address);
  const parsed = ipaddr.parse(isIPv4(usual) ? address : usual);
  const bits = parsed.kind() === 'ipv4' ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  if (prefix > bits) return undefined;
  if (parsed instanceof ipaddr.IPv4)
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${prefix}`)}/${prefix}`;
  if (isIPv4(usual) && prefix >= MAPPED_PREFIX) return normalRange(`${usual}/${prefix - MAPPED_PREFIX}`);
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${prefix}`)}/${prefix}`;
}

/** @param address as `clientAddress` returns it */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return true;
  if (!isIP(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some((range) => {
    const [network, prefix] = ipaddr.parseCIDR(range);
    return network.kind() === parsed.kind() && parsed.match(network, prefix);
  });
}
