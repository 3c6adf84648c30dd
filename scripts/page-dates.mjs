/*
 * `node scripts/page-dates.mjs` writes docs/page-dates.json: when each page last changed. An image has no history, so the file keeps
 * a date with a digest of the page: a page whose digest differs has changed today. A test fails if the committed file is stale.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';

export const FILE = 'docs/page-dates.json';
const OTHERS = ['CHANGELOG.md', 'examples/receivers/README.md'];

/** Returns the dates of all pages. @param today the date of pages that have changed since the known ones, such as `2026-01-31` */
export function pageDates(known, today) {
  const pages = readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  return Object.fromEntries(
    [...pages, ...OTHERS].toSorted().map((page) => {
      const digest = createHash('sha256').update(readFileSync(page)).digest('hex').slice(0, 16);
      const date = known[page]?.digest === digest ? known[page].date : today;
      return [page, { date, digest }];
    }),
  );
}

if (process.argv[1] === import.meta.filename) {
  const known = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
  const dates = pageDates(known, new Date().toISOString().slice(0, 10));
  writeFileSync(FILE, await format(JSON.stringify(dates), { parser: 'json', printWidth: 110 }));
}
