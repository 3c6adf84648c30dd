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

/** The host name of a web address, without `www.`. */
const WEB_ADDRESS = /^(?:https?:\/\/)?(?:www\.)?([\p{Letter}\p{Number}.-]+\.\p{Letter}{2,})(?:[/?#:].*)?$/isu;
const DOT_COM = /\.com$/i;
/** The match keys of words that may follow a name: legal forms (Inc) and words such as account. */
const ADDITIONS =
  'accounts?|co|company|corp|corporation|inc|incorporated|limited|llc|login|ltd|membership|plc|subscription';
const ADDITION = new RegExp(`^(?:${ADDITIONS})$`);
/** Most names have no additions, and looking for them costs eight times as much as computing the key. */
const MAY_HAVE_ADDITIONS = new RegExp(`[./]|\\s(?:${ADDITIONS})\\P{Letter}*$`, 'iu');

/**
 * Returns the match keys to look up a name: first the key of the whole name, in case a merchant has exactly this name, then
 * keys without common additions. "Netflix account", "Netflix, Inc." and "www.netflix.com" all lead
 * to "netflix".
 *
 * @returns at most four keys, and none for a name without letters and digits
 */
export function matchKeys(name: string): string[] {
  if (!MAY_HAVE_ADDITIONS.test(name)) return [matchKey(name)].filter((key) => key !== '');
  const [first = '', ...more] = name.trim().split(/\s+/u);
  const words = [WEB_ADDRESS.exec(first)?.[1] ?? first, ...more];
  const spellings = [name, words.join(' ')];
  while (words.length > 1 && ADDITION.test(matchKey(words.at(-1) ?? ''))) words.pop();
  const bare = words.join(' ');
  spellings.push(bare, bare.replace(DOT_COM, ''));
  return [...new Set([...new Set(spellings)].map(matchKey))].filter((key) => key !== '');
}
