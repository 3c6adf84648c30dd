import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const PAGES = readdirSync(DOCS).filter((file) => /^security.*\.md$/.test(file));

interface Proof {
  readonly file: string;
  readonly title: string;
}

/** The guarantees of all pages, each with the page and the text that names its tests. */
const CLAIMS = PAGES.flatMap((page) => {
  const [, section = ''] = readFileSync(join(DOCS, page), 'utf8').split(/^## Guarantees$/m);
  const [guarantees = ''] = section.split(/^## /m);
  return guarantees
    .split(/^- /m)
    .slice(1)
    .map((item) => {
      const [claim = '', tests = ''] = item
        .split('\n\n', 1)
        .join('')
        .split(/^ {2}Tests: /m);
      return [page, claim.trim(), tests.trim()] as const;
    });
});

/** Parses links to test files, each followed by titles of tests in that file. */
function proofsOf(tests: string): Proof[] {
  return [...tests.matchAll(/\[[^\]]+\]\(([^)]+)\)((?:,? “[^”]+”)+)/g)].flatMap(
    ([, file = '', titles = '']) =>
      [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => ({ file, title })),
  );
}

describe('The threat model', () => {
  it('has a page for each attacker, with guarantees, which docs/security.md links to', () => {
    expect(PAGES.length).toBeGreaterThan(12);
    expect(CLAIMS.length).toBeGreaterThan(140);
    expect([...new Set(CLAIMS.map(([page]) => page))]).toEqual(PAGES);
    const entry = readFileSync(join(DOCS, 'security.md'), 'utf8');
    const others = PAGES.filter((page) => page !== 'security.md');
    expect(others.filter((page) => !entry.includes(`](${page})`))).toEqual([]);
  });

  it.each(CLAIMS)('has tests in docs/%s for: %s', (page, _claim, tests) => {
    const proofs = proofsOf(tests);
    expect(proofs.length).toBeGreaterThan(0);
    // Every quoted title must belong to a link, or a typo would hide it.
    expect(proofs).toHaveLength(tests.match(/“/g)?.length ?? 0);
    for (const { file, title } of proofs) {
      const path = join(DOCS, file);
      const text = existsSync(path) && file.endsWith('.spec.ts') ? readFileSync(path, 'utf8') : '';
      const exists = ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
      const remedy = `${file} has no test “${title}”: change docs/${page} to name a test that proves the guarantee.`;
      expect(exists ? '' : remedy).toBe('');
    }
  });
});
