/** Letters of the parts by which an identifier is found. */
const PART_LENGTH = 3;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Returns all parts of three letters of an identifier, each as a number that also depends on the client: PostgreSQL finds arrays of
 * numbers by an index without an extension, and the entries of one client are not those of others. Different parts may have the same
 * number, so results must be compared with the text.
 *
 * @returns nothing for a text that is shorter than a part
 */
export function partsOf(clientId: string, text: string): number[] {
  const letters = text.toLowerCase();
  const parts = new Set<number>();
  for (let start = 0; start + PART_LENGTH <= letters.length; start += 1)
    parts.add(hash(clientId + letters.slice(start, start + PART_LENGTH)));
  return [...parts];
}

/** The hash function FNV-1a, as a signed number of 32 bits. */
function hash(text: string): number {
  let value = FNV_OFFSET;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), FNV_PRIME);
  return value | 0;
}
