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

/** A link to a test file, and after it the titles in it. */
function proofsOf(cell: string): Proof[] {
  return [...cell.matchAll(/\[[^\]]+\]\(([^)]+)\)((?:,? “[^”]+”)+)/g)].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => ({ file, title })),
  );
}

describe('docs/security.md', () => {
  it('makes claims against every attacker', () => {
    expect(CLAIMS.length).toBeGreaterThan(40);
    expect(PAGE.match(/^\| guarantee/gm)).toHaveLength(8);
  });

  it.each(CLAIMS)('%s', (_claim, cell) => {
    const proofs = proofsOf(cell);
    expect(proofs.length).toBeGreaterThan(0);
    // Everything in the cell is a proof, or a slip of the pen would hide one.
    expect(proofs).toHaveLength(cell.match(/“/g)?.length ?? 0);
    for (const { file, title } of proofs) {
      const path = join(DOCS, file);
      const text = existsSync(path) && file.endsWith('.spec.ts') ? readFileSync(path, 'utf8') : '';
      const isThere = ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
      const remedy = `${file} has no test “${title}”: docs/security.md must name the one that shows the claim.`;
      expect(isThere ? '' : remedy).toBe('');
    }
  });
});
