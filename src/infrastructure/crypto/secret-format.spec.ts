import fc from 'fast-check';
import { SECRET_PATTERN } from '../logging/index.js';
import {
  dayOfSecret,
  digestOfSecret,
  generateDatedSecret,
  generateSecret,
  isWellFormedSecret,
  isWellFormedSecretWithoutPrefix,
  secretFrom,
} from './secret-format.js';

const PREFIXES = ['mcs_dev_', 'mcs_live_', 'mcp_dev_', 'mcp_live_', 'mcs_svc_'];
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('Format of secrets', () => {
  it.each(PREFIXES)('has the prefix %s and 49 digits', (prefix) => {
    const secret = generateSecret(prefix);
    expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
    expect(isWellFormedSecret(secret)).toBe(true);
  });

  it('is found by the published pattern anywhere in a text', () => {
    for (const prefix of PREFIXES) {
      const secret = generateSecret(prefix);
      for (const text of [secret, `"${secret}"`, `u:${secret}@host`, `x=${secret}&y`, `(${secret}).`]) {
        expect(text.match(SECRET_PATTERN)).toEqual([secret]);
      }
    }
    expect('mcs_dev_short mcs_test_'.concat('0'.repeat(49)).match(SECRET_PATTERN)).toBeNull();
  });

  it('can have no prefix', () => {
    const token = generateSecret('');
    expect(isWellFormedSecretWithoutPrefix(token)).toBe(true);
    for (const text of ['', 'invented', '0'.repeat(49), token.toLowerCase(), `${token}0`, ` ${token}`])
      expect(isWellFormedSecretWithoutPrefix(text)).toBe(false);
  });

  /** Scanners rely on the checksum: another algorithm would be another format. */
  it('has a checksum that is stable across releases', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg';
    expect(digits).toHaveLength(43);
    const known = `mcs_dev_${digits}1RjW3z`;
    expect(isWellFormedSecret(known)).toBe(true);
    expect(isWellFormedSecret(`mcs_dev_${digits}000000`)).toBe(false);
  });

  it('is not valid if any character changes', () => {
    const secret = generateSecret('mcs_dev_');
    const indexes = fc.integer({ min: 0, max: secret.length - 1 });
    fc.assert(
      fc.property(indexes, fc.constantFrom(...DIGITS), (index, digit) => {
        const altered = secret.slice(0, index) + digit + secret.slice(index + 1);
        return altered === secret || !isWellFormedSecret(altered);
      }),
    );
  });

  it('can hold the day in UTC on which the secret was created', () => {
    const times = fc.date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2622-01-01T00:00:00Z') });
    fc.assert(
      fc.property(
        times.filter((time) => !Number.isNaN(time.getTime())),
        (time) => {
          const secret = generateDatedSecret('mcp_live_', time);
          expect(isWellFormedSecret(secret)).toBe(true);
          expect(secret.match(SECRET_PATTERN)).toEqual([secret]);
          expect(dayOfSecret(secret).toISOString()).toBe(`${time.toISOString().slice(0, 10)}T00:00:00.000Z`);
        },
      ),
    );
    // Other processes read the day, also those of other releases.
    expect(generateDatedSecret('mcp_dev_', new Date('2026-01-31T23:59:59.999Z'))).toMatch(/^mcp_dev_5KO/);
  });

  it('stays random in the 40 digits after the day', () => {
    const now = new Date('2026-01-31T08:15:30Z');
    const secrets = Array.from({ length: 1_000 }, () => generateDatedSecret('mcp_dev_', now).slice(11, -6));
    expect(new Set(secrets.map((secret) => secret.slice(0, 20))).size).toBe(1_000);
    expect(new Set(secrets.map((secret) => secret.slice(20))).size).toBe(1_000);
    expect(secrets.every((secret) => secret.length === 40)).toBe(true);
  });

  it('holds the digest that it was made from', () => {
    const digests = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(digests, (digest) => {
        expect(digestOfSecret(secretFrom(digest, 'mcp_dev_'))).toEqual(digest);
      }),
    );
    expect(digestOfSecret('mcp_dev_invented')).toBeUndefined();
  });

  it('is valid with one prefix only', () => {
    const secret = generateSecret('mcs_dev_');
    expect(isWellFormedSecret(secret.replace('mcs', 'mcp'))).toBe(false);
    expect(isWellFormedSecret('')).toBe(false);
    expect(isWellFormedSecret(`${secret}0`)).toBe(false);
  });

  it('is unique, and uses all digits equally', () => {
    const secrets = Array.from({ length: 2_000 }, () => generateSecret('mcs_dev_').slice('mcs_dev_'.length));
    expect(new Set(secrets).size).toBe(secrets.length);

    const counts = new Map<string, number>();
    for (const digit of secrets.map((secret) => secret.slice(0, 43)).join('')) {
      counts.set(digit, (counts.get(digit) ?? 0) + 1);
    }
    expect([...counts.keys()].toSorted().join('')).toBe([...DIGITS].toSorted().join(''));
    const expected = (secrets.length * 43) / DIGITS.length;
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    );
    // 61 degrees of freedom: a uniform source exceeds 130 about once in 2,000,000 runs, a plain `% 62` always.
    expect(chiSquare).toBeLessThan(130);
  });
});
