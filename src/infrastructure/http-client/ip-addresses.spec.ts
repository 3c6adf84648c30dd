import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import {
  FORBIDDEN_IPV4,
  FORBIDDEN_IPV6,
  PUBLIC_ADDRESSES,
} from '../../../test/support/http/forbidden-urls.js';
import { isPublicUnicast } from './ip-addresses.js';

const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => [...bytes].join('.'));
const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => ipaddr.fromByteArray([...bytes]));

describe('isPublicUnicast', () => {
  it.each([...FORBIDDEN_IPV4, ...FORBIDDEN_IPV6])('rejects %s', (address) => {
    expect(isPublicUnicast(address)).toBe(false);
  });

  it.each(PUBLIC_ADDRESSES)('accepts %s', (address) => {
    expect(isPublicUnicast(address)).toBe(true);
  });

  it.each(['', 'example.com', '1.2.3', '1.2.3.4.5', 'fe80::1%lo', '8.8.8.8/8'])('rejects "%s"', (text) => {
    expect(isPublicUnicast(text)).toBe(false);
  });

  it('treats addresses that are IPv4-mapped or for NAT64 like IPv4, and rejects other embedded addresses', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
        const isPublic = isPublicUnicast(address);
        for (const wrapped of [
          '::ffff:',
          '64:ff9b::',
          '64:ff9b:1::',
          '2a01:4f8:0:1:0:5efe:',
          '2a01:4f8::200:5efe:',
        ])
          expect([wrapped, isPublicUnicast(`${wrapped}${address}`)]).toEqual([wrapped, isPublic]);
        for (const embedded of [`::${address}`, `::ffff:0:${address}`, `2002:${high}:${low}::1`])
          expect(isPublicUnicast(embedded)).toBe(false);
        expect(isPublicUnicast(`2001:0:4136:e378:8000:63bf:${high}:${low}`)).toBe(false);
      }),
    );
  });

  it('accepts IPv6 addresses in 2000::/3 only', () => {
    fc.assert(
      fc.property(ipv6, (address) => {
        const [first = 0] = address.toByteArray();
        if (first >> 5 !== 1) expect(isPublicUnicast(address.toString())).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});
