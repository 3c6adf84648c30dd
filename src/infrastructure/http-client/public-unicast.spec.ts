import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { FORBIDDEN_IPV4, FORBIDDEN_IPV6, PUBLIC_ADDRESSES } from '../../../test/support/forbidden-urls.js';
import { isPublicUnicast } from './public-unicast.js';

const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => [...bytes].join('.'));
const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => ipaddr.fromByteArray([...bytes]));

describe('An address of the public Internet', () => {
  it.each([...FORBIDDEN_IPV4, ...FORBIDDEN_IPV6])('is not %s', (address) => {
    expect(isPublicUnicast(address)).toBe(false);
  });

  it.each(PUBLIC_ADDRESSES)('is %s', (address) => {
    expect(isPublicUnicast(address)).toBe(true);
  });

  it.each(['', 'example.com', '1.2.3', '1.2.3.4.5', 'fe80::1%lo', '8.8.8.8/8'])('is not "%s"', (text) => {
    expect(isPublicUnicast(text)).toBe(false);
  });

  it('is the same mapped into IPv6, and none when it is carried in another way', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
        expect(isPublicUnicast(`::ffff:${address}`)).toBe(isPublicUnicast(address));
        for (const carried of [`::${address}`, `64:ff9b::${address}`, `2002:${high}:${low}::1`]) {
          expect(isPublicUnicast(carried)).toBe(false);
        }
        expect(isPublicUnicast(`2001:0:4136:e378:8000:63bf:${high}:${low}`)).toBe(false);
      }),
    );
  });

  it('of IPv6 lies in 2000::/3', () => {
    fc.assert(
      fc.property(ipv6, (address) => {
        const [first = 0] = address.toByteArray();
        if (first >> 5 !== 1) expect(isPublicUnicast(address.toString())).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});
