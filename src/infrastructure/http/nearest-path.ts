import { distance } from 'fastest-levenshtein';

/** Longer paths are not misspelled. Limits the time of the search. */
const MAX_LENGTH = 100;
/** The part of the characters that a misspelled path may have wrong. */
const MAX_DIFFERENCE = 0.4;

/**
 * Returns the path that a client probably meant, with placeholders such as `{id}`.
 *
 * @param paths patterns such as `/users/:id`
 * @returns undefined if no path is similar
 */
export function nearestPath(path: string, paths: readonly string[]): string | undefined {
  if (path.length > MAX_LENGTH) return undefined;
  const segments = path.toLowerCase().split('/');
  let nearest: string | undefined;
  let smallest = MAX_DIFFERENCE;
  for (const pattern of paths) {
    const difference = differenceOf(segments, pattern);
    if (difference < smallest) [nearest, smallest] = [pattern, difference];
  }
  return nearest?.replaceAll(/:(\w+)/g, '{$1}');
}

/** Any segment is right for a placeholder, and says nothing about the rest of the path. */
function differenceOf(segments: readonly string[], pattern: string): number {
  const parts = pattern.split('/');
  const isPlaceholder = (index: number): boolean => Boolean(parts[index]?.startsWith(':') && segments[index]);
  const path = segments.map((segment, index) => (isPlaceholder(index) ? '' : segment)).join('/');
  const meant = parts.map((part, index) => (isPlaceholder(index) ? '' : part)).join('/');
  return distance(path, meant) / Math.max(path.length, meant.length);
}
