/** Returns the JSON of a value. It does not depend on the order of the members. */
export function canonicalJson(value: object): string {
  return JSON.stringify(value, sortedMembers);
}

function sortedMembers(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
