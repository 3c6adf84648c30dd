/** Letters that Unicode does not decompose into a base letter and an accent. */
const FOLDED_LETTERS: Readonly<Record<string, string>> = {
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ς: 'σ',
};
const PRINTABLE_ASCII = /^[ -~]*$/;
const FOLDABLE = new RegExp(`[${Object.keys(FOLDED_LETTERS).join('')}]`, 'gu');

/**
 * Removes case, accents, punctuation and spacing from a name: "Café  Ōsaka!" and "CAFE OSAKA" have the same key. The key
 * of a name without letters and digits is empty, and matches nothing.
 */
export function matchKey(name: string): string {
  // Most names are ASCII. A search normalizes up to 100 of them, and Unicode's rules take three times as long.
  if (PRINTABLE_ASCII.test(name)) return name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(FOLDABLE, (letter) => FOLDED_LETTERS[letter] ?? letter)
    .normalize('NFKD')
    .replace(/[^\p{Letter}\p{Number}]/gu, '');
}
