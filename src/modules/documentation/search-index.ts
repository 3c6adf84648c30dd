import MiniSearch from 'minisearch';
import type { ApiOperation } from './api-operations.js';
import type { CatalogEntry } from './guides.js';
import type { Section } from './rendered-markdown.js';

/** Characters of a section that a result shows. */
const EXCERPT_LENGTH = 140;

/** Options of MiniSearch. The browser gets them with the index, which can be loaded only with the same options. */
const OPTIONS = { fields: ['title', 'page', 'content'], storeFields: ['title', 'page', 'excerpt', 'href'] };

interface SearchEntry {
  readonly id: number;
  readonly title: string;
  /** The page or topic that the entry belongs to. */
  readonly page: string;
  readonly content: string;
  readonly excerpt: string;
  readonly href: string;
}

export interface SearchedPage {
  readonly entry: CatalogEntry;
  readonly sections: readonly Section[];
}

/** Returns an index of all sections and operations, which the browser searches. */
export function searchIndexOf(pages: readonly SearchedPage[], operations: readonly ApiOperation[]): string {
  const index = new MiniSearch<SearchEntry>(OPTIONS);
  const entries = [...pages.flatMap(entriesOfPage), ...operations.map(entryOfOperation)];
  index.addAll(entries.map((entry, id) => ({ ...entry, id, excerpt: excerptOf(entry.excerpt) })));
  return JSON.stringify({ options: OPTIONS, index });
}

type NewEntry = Omit<SearchEntry, 'id'>;

function entriesOfPage({ entry, sections }: SearchedPage): NewEntry[] {
  return sections.map(({ id, text, depth, content }) => ({
    title: text,
    page: entry.title,
    content,
    excerpt: content,
    href: depth === 1 ? entry.path : `${entry.path}#${id}`,
  }));
}

function entryOfOperation({ method, path, summary, description, tag, href }: ApiOperation): NewEntry {
  return {
    title: summary,
    page: tag,
    content: `${method} ${path} ${description}`,
    excerpt: `${method} ${path}`,
    href,
  };
}

const excerptOf = (text: string): string =>
  text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH).replace(/\s+\S*$/, '')}…`;
