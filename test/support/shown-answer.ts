const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** Error codes, names of events: words that mean something to a program. */
const CODE = /^[A-Z][A-Z_]+[A-Z]$/;
/** Texts that a page must show exactly as the service sends them. */
const MESSAGE = /(?:^message|_message|_description)$/;
/** What is different every time, though a page shows one of it. */
const VARYING = /(?:^|_)(?:ms|timestamp|exp|iat|sequence)$/;

/**
 * How an answer that a page shows differs from the real one: members, types, kinds of text and whatever is no
 * matter of chance (numbers, codes, true and false) must be the same.
 *
 * @returns nothing where it does not differ
 */
export function differences(shown: unknown, real: unknown, name = 'the answer'): string[] {
  if (Array.isArray(shown) && Array.isArray(real)) {
    if (shown.length > real.length) return [`${name} has ${real.length} items, shown are ${shown.length}`];
    return shown.flatMap((item, index) => differences(item, real[index], `${name}[${index}]`));
  }
  if (isObject(shown) && isObject(real)) {
    const names = [...new Set([...Object.keys(shown), ...Object.keys(real)])];
    return names.flatMap((member) => {
      if (!(member in real)) return [`${name} has no ${member}`];
      if (!(member in shown)) return [`${name} has ${member}, which is not shown`];
      return differences(shown[member], real[member], member);
    });
  }
  const [wanted, found] = [kindOf(shown, name), kindOf(real, name)];
  return wanted === found ? [] : [`${name} is ${found}, shown is ${wanted}`];
}

function kindOf(value: unknown, name: string): string {
  if (typeof value === 'number') return VARYING.test(name) ? 'a number' : String(value);
  if (typeof value !== 'string')
    return value === null || typeof value === 'boolean' ? String(value) : typeof value;
  if (UUID.test(value)) return 'a UUID';
  if (TIME.test(value)) return 'a time';
  if (CODE.test(value) || MESSAGE.test(name)) return value;
  if (/^https?:/.test(value)) return `a URL with the path ${new URL(value).pathname}`;
  return /^mc[sp]_[a-z]+_/.exec(value)?.[0] ?? 'a text';
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
