import { generateSecret } from '../../../infrastructure/crypto/index.js';
import { excerptOf } from './response-excerpt.js';

const MAX_BYTES = 2048;

describe('excerptOf', () => {
  it('returns a short text', () => {
    expect(excerptOf({ text: 'ä', isComplete: true })).toBe('ä');
  });

  it.each(['a', 'ä', '€', '\u{1F600}', 'a\u{1F600}'])('cuts %s between characters', (character) => {
    const excerpt = excerptOf({ text: character.repeat(3_000), isComplete: true });
    expect(Buffer.byteLength(excerpt)).toBeGreaterThan(MAX_BYTES - 4);
    expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(MAX_BYTES);
    expect(excerpt.isWellFormed()).toBe(true);
    expect(character.repeat(3_000).startsWith(excerpt)).toBe(true);
  });

  it('masks a secret before it cuts the text', () => {
    const secret = generateSecret('mcs_live_');
    for (let length = MAX_BYTES - secret.length - 1; length <= MAX_BYTES; length += 1) {
      const excerpt = excerptOf({ text: `${' '.repeat(length)}${secret}`, isComplete: true });
      expect(excerpt).not.toContain(secret.slice(0, 12));
    }
  });

  it('leaves out the last word of a text that was not read to its end, because it may be half of a secret', () => {
    const token = `${'eyJhbGciOiJIUzI1NiJ9'}.${'eyJzdWIiOiIx'.repeat(20)}`;
    expect(excerptOf({ text: `{"echo":"${token}`, isComplete: false })).toBe('{"echo":"');
    expect(excerptOf({ text: token, isComplete: false })).toBe('');
  });
});
