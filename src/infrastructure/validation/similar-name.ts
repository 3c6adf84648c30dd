/** Longer names are not field names. */
const MAX_LENGTH = 64;

/**
 * Returns the first candidate that a name was probably meant to be: it has the same letters in another case style, such
 * as `expiresIn` for `expires_in`, or differs by one insertion, deletion, replacement or transposition.
 */
export function similarName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const letters = lettersOf(name);
  return candidates.find((candidate) => lettersOf(candidate) === letters || isOneEditAway(name, candidate));
}

function lettersOf(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase();
}

function isOneEditAway(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 1) return false;
  let at = 0;
  while (at < name.length && name[at] === other[at]) at += 1;
  const rest = name.slice(at);
  const otherRest = other.slice(at);
  return (
    rest.slice(1) === otherRest.slice(1) ||
    rest === otherRest.slice(1) ||
    rest.slice(1) === otherRest ||
    (rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2))
  );
}
