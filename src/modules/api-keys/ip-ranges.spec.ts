import { isInRanges, normalRange } from './ip-ranges.js';

describe('normalRange', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7/32'],
    [' 203.0.113.7/24 ', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::7', '2001:db8::7/128'],
    ['2001:db8:0:0:1::/48', '2001:db8::/48'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:10.1.2.3', '10.1.2.3/32'],
    ['::/0', '::/0'],
  ])('spells %j as %j', (text, range) => expect(normalRange(text)).toBe(range));

  it.each([
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0',
    '010.0.0.1',
    '10.0.0.0/',
    'fe80::1%eth0',
    'a/8',
    '10.0.0.0/8/8',
  ])('rejects %j', (text) => expect(normalRange(text)).toBeUndefined());
});

describe('isInRanges', () => {
  it.each([
    ['203.0.113.7', [], true],
    ['203.0.113.7', ['203.0.113.0/24'], true],
    ['203.0.114.7', ['203.0.113.0/24'], false],
    ['203.0.114.7', ['203.0.113.0/24', '203.0.114.7/32'], true],
    ['::ffff:203.0.113.7', ['203.0.113.0/24'], true],
    ['2001:db8::7', ['2001:db8::/32'], true],
    ['2001:db9::7', ['2001:db8::/32'], false],
    ['10.0.0.1', ['::/0'], false],
    ['2001:db8::7', ['0.0.0.0/0'], false],
    ['', ['0.0.0.0/0'], false],
  ])('finds whether %j is in %j', (address, ranges, isIn) => expect(isInRanges(address, ranges)).toBe(isIn));
});
