/** Letters that look accented but are letters of their own: Unicode does not take them apart. */
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
const FOLDABLE = new RegExp(`[${Object.keys(FOLDED_LETTERS).join('')}]`, 'gu');

/**
 * What remains of a name when case, accents, punctuation and spacing are ignored: "Café  Ōsaka!" and
 * "CAFE OSAKA" are the same. Empty for a name without letters or digits, which then matches nothing.
 */
export function matchKey(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(FOLDABLE, (letter) => FOLDED_LETTERS[letter] ?? letter)
    .normalize('NFKD')
    .replace(/[^\p{Letter}\p{Number}]/gu, '');
}
