import { matchKey } from './match-key.js';
import {
  bundledMerchants,
  FIRST_OPERATOR_ID,
  MAX_MERCHANT_ID,
  parseMerchantId,
} from './merchant-catalog.service.js';

const MERCHANT_CATALOG = bundledMerchants();

describe('Merchant catalog', () => {
  it('has at least 100 merchants', () => {
    expect(MERCHANT_CATALOG.length).toBeGreaterThanOrEqual(100);
  });

  it('has unique IDs, below those of operators', () => {
    const ids = MERCHANT_CATALOG.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !Number.isInteger(id) || id < 1 || id >= FIRST_OPERATOR_ID)).toEqual([]);
  });

  it('has no two names with the same match key', () => {
    const spellingsOfKey = new Map<string, string[]>();
    for (const { id, name, aliases = [] } of MERCHANT_CATALOG) {
      for (const spelling of [name, ...aliases]) {
        const key = matchKey(spelling);
        spellingsOfKey.set(key, [...(spellingsOfKey.get(key) ?? []), `${spelling} (${id})`]);
      }
    }
    expect([...spellingsOfKey.values()].filter((spellings) => spellings.length > 1)).toEqual([]);
    expect(spellingsOfKey.has('')).toBe(false);
  });

  it('has names that fit into the column', () => {
    const names = MERCHANT_CATALOG.map(({ name }) => name);
    expect(names.filter((name) => name.trim() !== name || name === '' || [...name].length > 256)).toEqual([]);
  });
});

describe('parseMerchantId', () => {
  it.each([1, 1_000_000_000, MAX_MERCHANT_ID])('reads %d', (id) =>
    expect(parseMerchantId(String(id))).toBe(id),
  );

  it.each(['', '0', '01', '-1', '1.5', String(MAX_MERCHANT_ID + 1), '9999999999'])('rejects %j', (text) =>
    expect(parseMerchantId(text)).toBeUndefined(),
  );
});
