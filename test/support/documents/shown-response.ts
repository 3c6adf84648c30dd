const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** Error codes and event names. */
const CODE = /^[A-Z][A-Z_]+[A-Z]$/;
/** Members whose text a page must show exactly. */
const MESSAGE = /(?:^message|_message|_description)$/;
/** Numbers that differ in every response. */
const VARYING = /(?:^|_)(?:ms|timestamp|exp|iat|sequence|task_id)$/;

/**
 * Returns how a response on a page differs from the real response. Members, types, kinds of text, numbers, codes and
 * booleans must be the same.
 */
export function differences(shown: unknown, real: unknown, name = 'the response'): string[] {
  if (Array.isArray(shown) && Array.isArray(real)) {
    if (shown.length > real.length)
      return [`${name} has ${real.length} items, but the page shows ${shown.length}`];
    return shown.flatMap((item, index) => differences(item, real[index], `${name}[${index}]`));
  }
  if (isObject(shown) && isObject(real)) {
    const names = [...new Set([...Object.keys(shown), ...Object.keys(real)])];
    return names.flatMap((member) => {
      if (!(member in real)) return [`${name} has no ${member}`];
      if (!(member in shown)) return [`${name} has ${member}, which the page does not show`];
      return differences(shown[member], real[member], member);
    });
  }
  const [wanted, found] = [kindOf(shown, name), kindOf(real, name)];
  return wanted === found ? [] : [`${name} is ${found}, but the page shows ${wanted}`];
}

function kindOf(value: unknown, name: string): string {
  if (typeof value === 'number') return VARYING.test(name) ? 'a number' : String(value);
  if (typeof value !== 'string')
    return value === null || typeof value === 'boolean' ? String(value) : typeof value;
  if (UUID.test(value)) return 'a UUID';
  if (TIME.test(value)) return 'a time';
  if (CODE.test(value) || MESSAGE.test(name)) return value;
  if (/^https?:/.test(value)) return `a URL with the path ${pathOf(value)}`;
  return /^mc[sp]_[a-z]+_/.exec(value)?.[0] ?? 'a text';
}

/** Returns the path of a URL, without the token of a sign-in link. */
const pathOf = (url: string): string => new URL(url).pathname.replace(/^(\/sign-in\/).+/, '$1…');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
