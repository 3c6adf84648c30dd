import { partsOf } from './identifier-parts.js';

describe('partsOf', () => {
  it('returns a part of each client for every three letters, whatever their case', () => {
    expect(partsOf('a', 'user-1')).toHaveLength(4);
    expect(partsOf('a', 'USER-1')).toEqual(partsOf('a', 'user-1'));
    expect(partsOf('b', 'user-1')).not.toEqual(partsOf('a', 'user-1'));
    expect(partsOf('a', 'user-1')).toEqual(expect.arrayContaining(partsOf('a', 'ser-')));
    expect(partsOf('a', 'us')).toEqual([]);
    expect(partsOf('a', 'aaaaaa')).toHaveLength(1);
  });

  it('returns numbers of 32 bits', () => {
    for (const part of partsOf('8d3f7a52-6f0b-4a6e-9b1d-0c5e2a7f4b10', 'größe@例え.example'))
      expect(part).toBe(part | 0);
  });
});
