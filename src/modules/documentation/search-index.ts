import MiniSearch from 'minisearch';
import type { ApiOperation } from './api-operations.js';
import type { CatalogEntry } from './guides.js';
import type { Section } from './rendered-markdown.js';

/** Characters of a section that a result shows. */
const EXCERPT_LENGTH = 140;

/** Options of MiniSearch. The browser gets them with the index, which can be loaded only with the same options. */
const OPTIONS = {
  fields: ['title', 'page', 'content', 'keywords'],
  storeFields: ['title', 'page', 'excerpt', 'href', 'weight'],
  searchOptions: {
    prefix: true,
    fuzzy: 0.2,
    combineWith: 'AND' as const,
    boost: { title: 4, page: 2, keywords: 8 },
  },
};
/** Guides say how things are now. */
const CHANGELOG_WEIGHT = 0.25;
/** Readers look for an explanation before its code. */
const PROGRAM_WEIGHT = 0.05;
/** The heading of a program on a page is the name of its file. */
const PROGRAM = /^[\w-]+\.\w+$/;

/** Other words for operations. Pages have them in comments. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'GET /merchants/{id}/status': 'status page, outage, downtime, uptime',
};

interface SearchEntry {
  readonly id: number;
  readonly title: string;
  readonly page: string;
  readonly content: string;
  readonly keywords: string;
  /** Factor of the score of the entry in results. */
  readonly weight: number;
  readonly excerpt: string;
  readonly href: string;
}

export interface SearchedPage {
  readonly entry: CatalogEntry;
  readonly sections: readonly Section[];
}

/** Returns an index of all sections and operations, which the browser searches. */
export async function searchIndexOf(
  pages: readonly SearchedPage[],
  operations: readonly ApiOperation[],
): Promise<string> {
  const index = new MiniSearch<SearchEntry>(OPTIONS);
  const entries = [...pages.flatMap(entriesOfPage), ...operations.map(entryOfOperation)];
  const numbered = entries.map((entry, id) => ({ ...entry, id, excerpt: excerptOf(entry.excerpt) }));
  // Other requests are served in between.
  await index.addAllAsync(numbered, { chunkSize: 25 });
  return JSON.stringify({ options: OPTIONS, index });
}

type NewEntry = Omit<SearchEntry, 'id'>;

function entriesOfPage({ entry, sections }: SearchedPage): NewEntry[] {
  return sections.map(({ id, text, depth, content, keywords }) => ({
    title: text,
    page: entry.title,
    content,
    keywords,
    weight: PROGRAM.test(text) ? PROGRAM_WEIGHT : entry.title === 'Changelog' ? CHANGELOG_WEIGHT : 1,
    excerpt: content,
    href: depth === 1 ? entry.path : `${entry.path}#${id}`,
  }));
}

function entryOfOperation({ method, path, summary, description, tag, href }: ApiOperation): NewEntry {
  return {
    title: summary,
    page: tag,
    keywords: `${method} ${path} ${SYNONYMS[`${method} ${path}`] ?? ''}`,
    weight: 1,
    content: `${method} ${path} ${description}`,
    excerpt: `${method} ${path}`,
    href,
  };
}

const excerptOf = (text: string): string =>
  text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH).replace(/\s+\S*$/, '')}…`;
