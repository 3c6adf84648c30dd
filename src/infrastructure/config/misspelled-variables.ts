import { distance } from 'fastest-levenshtein';
import { configurationDefinitions, variablesOf, type Environment } from './environment-variable.js';

/** Shorter names are near to many others: PATH and HOME to PORT and HOST. */
const MIN_LENGTH = 5;
/** A name of so many characters may have two errors. */
const LONG = 12;

/**
 * Returns a sentence for each variable that is not a setting, but nearly has the name of one. The setting then has its default,
 * which nobody would notice.
 */
export function misspelledVariables(environment: Environment): string[] {
  const names = configurationDefinitions().flatMap(({ target }) =>
    variablesOf(target)
      .flatMap(({ name, formerName = name }) => [name, formerName])
      .flatMap((name) => [name, `${name}_FILE`]),
  );
  const known = new Set(names);
  return Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || value === '' || known.has(name)) return [];
    const nearest = nearestName(name, names);
    return nearest === undefined
      ? []
      : [`The environment variable ${name} is not a setting of this service. Did you mean ${nearest}?`];
  });
}

function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length < MIN_LENGTH) return undefined;
  const upperCase = name.toUpperCase().replaceAll('-', '_');
  if (upperCase !== name) return names.find((other) => other === upperCase && other.includes('_'));
  const allowed = name.length < LONG ? 1 : 2;
  const [nearest] = names
    .filter((other) => Math.abs(other.length - name.length) <= allowed)
    .map((other) => ({ other, errors: errorsBetween(name, other) }))
    .filter(({ errors }) => errors <= allowed)
    .toSorted((left, right) => left.errors - right.errors);
  return nearest?.other ?? names.find((other) => lacksOneWord(name, other));
}

/** Matches names such as `DATABASE_POOL` for `DATABASE_POOL_SIZE`. */
function lacksOneWord(name: string, other: string): boolean {
  const words = name.split('_');
  const others = other.split('_');
  return (
    words.length > 1 &&
    words.length === others.length - 1 &&
    others.some((_, index) => others.toSpliced(index, 1).join('_') === name) &&
    !other.endsWith('_FILE')
  );
}

/** Returns the number of characters to insert, delete, replace or, once, swap with the next one. */
function errorsBetween(name: string, other: string): number {
  const swaps = Array.from(name, (character, at) =>
    [name.slice(0, at), name[at + 1], character, name.slice(at + 2)].join(''),
  );
  return Math.min(distance(name, other), ...swaps.map((swapped) => 1 + distance(swapped, other)));
}
