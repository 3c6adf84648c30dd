import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const PAGE = readFileSync(join(DOCS, 'security.md'), 'utf8');

interface Proof {
  readonly file: string;
  readonly title: string;
}

/** The rows of all tables that list guarantees with their tests. */
const CLAIMS = [...PAGE.matchAll(/^\| guarantee +\| tests +\|\n\|[^\n]*\n((?:\|[^\n]*\n)+)/gm)].flatMap(
  ([, rows = '']) =>
    rows
      .trim()
      .split('\n')
      .map(
        (row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()) as [string, string],
      ),
);

/** Parses links to test files, each followed by titles of tests in that file. */
function proofsOf(cell: string): Proof[] {
  return [...cell.matchAll(/\[[^\]]+\]\(([^)]+)\)((?:,? “[^”]+”)+)/g)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => ({ file, title })),
  );
}

describe('docs/security.md', () => {
  it('lists guarantees against every attacker', () => {
    expect(CLAIMS.length).toBeGreaterThan(40);
    expect(PAGE.match(/^\| guarantee/gm)).toHaveLength(12);
  });

  it.each(CLAIMS)('has tests for: %s', (_claim, cell) => {
    const proofs = proofsOf(cell);
    expect(proofs.length).toBeGreaterThan(0);
    // Every quoted title must belong to a link, or a typo would hide it.
    expect(proofs).toHaveLength(cell.match(/“/g)?.length ?? 0);
    for (const { file, title } of proofs) {
      const path = join(DOCS, file);
      const text = existsSync(path) && file.endsWith('.spec.ts') ? readFileSync(path, 'utf8') : '';
      const exists = ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
      const remedy = `${file} has no test “${title}”: change docs/security.md to name a test that proves the guarantee.`;
      expect(exists ? '' : remedy).toBe('');
    }
  });
});
