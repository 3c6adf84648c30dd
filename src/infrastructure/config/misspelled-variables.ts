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
    variablesOf(target).flatMap(({ name }) => [name, `${name}_FILE`]),
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
  const errors = name.length < LONG ? 1 : 2;
  const [nearest] = names
    .filter((other) => Math.abs(other.length - name.length) <= errors)
    .map((other) => ({ other, distance: distanceBetween(name, other) }))
    .filter(({ distance }) => distance <= errors)
    .toSorted((left, right) => left.distance - right.distance);
  return nearest?.other ?? names.find((other) => lacksOneWord(name, other));
}

/** Such as `DATABASE_POOL` for `DATABASE_POOL_SIZE`. */
function lacksOneWord(name: string, other: string): boolean {
  const [words, others] = [name.split('_'), other.split('_')];
  return (
    words.length > 1 &&
    words.length === others.length - 1 &&
    others.some((_, index) => others.toSpliced(index, 1).join('_') === name) &&
    !other.endsWith('_FILE')
  );
}

/** Returns the number of characters to insert, delete, replace or swap with the next one (optimal string alignment). */
function distanceBetween(name: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= name.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = name[row - 1] === other[column - 1];
      const isSwapped = name[row - 1] === other[column - 2] && name[row - 2] === other[column - 1];
      current[column] = Math.min(
        rows[row - 1]![column]! + 1,
        current[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (isSame ? 0 : 1),
        isSwapped && row > 1 && column > 1 ? rows[row - 2]![column - 2]! + 1 : Infinity,
      );
    }
    rows.push(current);
  }
  return rows.at(-1)!.at(-1)!;
}
