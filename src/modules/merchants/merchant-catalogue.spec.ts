import { matchKey } from './match-key.js';
import { MERCHANT_CATALOGUE } from './merchant-catalogue.js';

/** Ids from here on are the operators' own. */
const FIRST_ID_OF_OPERATORS = 10_000;

describe('The catalogue of merchants', () => {
  it('has a hundred merchants at least', () => {
    expect(MERCHANT_CATALOGUE.length).toBeGreaterThanOrEqual(100);
  });

  it('gives each an id of its own, below those of the operators', () => {
    const ids = MERCHANT_CATALOGUE.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !Number.isInteger(id) || id < 1 || id >= FIRST_ID_OF_OPERATORS)).toEqual([]);
  });

  it('has no two spellings of one key', () => {
    const spellingsOfKey = new Map<string, string[]>();
    for (const { id, name, aliases } of MERCHANT_CATALOGUE) {
      for (const spelling of [name, ...aliases]) {
        const key = matchKey(spelling);
        spellingsOfKey.set(key, [...(spellingsOfKey.get(key) ?? []), `${spelling} (${id})`]);
      }
    }
    expect([...spellingsOfKey.values()].filter((spellings) => spellings.length > 1)).toEqual([]);
    expect(spellingsOfKey.has('')).toBe(false);
  });

  it('has names that the column holds', () => {
    const names = MERCHANT_CATALOGUE.map(({ name }) => name);
    expect(names.filter((name) => name.trim() !== name || name === '' || [...name].length > 256)).toEqual([]);
  });
});
