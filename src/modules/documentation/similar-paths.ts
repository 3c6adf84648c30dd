/** Share of the letter pairs that two paths must have in common. */
const MIN_SIMILARITY = 0.4;
const MAX_LENGTH = 200;

/** Returns the candidates whose paths look most like a path, best first. */
export function mostSimilar<Candidate extends { readonly path: string }>(
  path: string,
  candidates: readonly Candidate[],
  count: number,
): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, similarity: similarityOf(path, candidate.path) }))
    .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
    .toSorted((left, right) => right.similarity - left.similarity)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** The Sørensen–Dice coefficient of the letter pairs: 1 for equal paths, 0 if they have nothing in common. */
function similarityOf(left: string, right: string): number {
  const [some, others] = [pairsOf(left), pairsOf(right)];
  const common = [...some].filter((pair) => others.has(pair)).length;
  return (2 * common) / Math.max(some.size + others.size, 1);
}

/** Every page is below `/docs`, so that part says nothing. */
function pairsOf(path: string): Set<string> {
  const letters = path
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replace(/^\/docs\//, '')
    .replaceAll(/[^a-z0-9]/g, '');
  return new Set(
    Array.from({ length: Math.max(letters.length - 1, 0) }, (_, at) => letters.slice(at, at + 2)),
  );
}
