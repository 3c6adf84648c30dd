import fc from 'fast-check';
import { CryptoConfiguration } from './crypto.configuration.js';
import { CursorCodec, type CursorScope } from './cursor-codec.js';

const codecWith = (byte: number): CursorCodec =>
  new CursorCodec(
    Object.assign(new CryptoConfiguration(), { secretPepper: Buffer.alloc(32, byte).toString('base64') }),
  );

const SCOPE: CursorScope = ['list', 'client', null, 7];
const codec = codecWith(1);
const cursor = codec.encode([1_769_817_600_000, 'id'], SCOPE);

function expectRefused(text: string, scope = SCOPE, by = codec): void {
  expect(() => by.decode(text, scope)).toThrow('The cursor is not valid.');
}

describe('A cursor', () => {
  it('has the position for the list, owner and filters that it was issued for, and for no others', () => {
    expect(codec.decode(cursor, SCOPE)).toEqual([1_769_817_600_000, 'id']);
    for (const scope of [[], ['list'], ['list', 'client', '', 7], ['list', 'client', null, '7']])
      expectRefused(cursor, scope);
    expectRefused(cursor, SCOPE, codecWith(2));
  });

  it('is refused if it is truncated or altered in any bit', () => {
    for (let length = 0; length < cursor.length; length += 1) expectRefused(cursor.slice(0, length));
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expectRefused(flipped.toString('base64url'));
    }
  });

  it('is refused in another spelling of the same bytes', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    const spellings = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
      .map((last) => cursor.slice(0, -1) + last)
      .filter((text) => text !== cursor && Buffer.from(text, 'base64url').equals(bytes));
    expect(spellings).not.toEqual([]);
    for (const spelling of spellings) expectRefused(spelling);
  });

  it('is refused if it is malformed', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 100 }),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
      fc.tuple(fc.nat(cursor.length), fc.string({ minLength: 1, maxLength: 3 })).map(([at, inserted]) => {
        return cursor.slice(0, at) + inserted + cursor.slice(at);
      }),
    );
    fc.assert(fc.property(anything, (text) => expectRefused(text)));
  });
});
