import type { VNode } from 'preact';
import { pagesNamed, Table, usePage, type Page } from '../../infrastructure/pages/index.js';
import type { SearchResult } from './search.service.js';

export function searchPage(text: string, results: readonly SearchResult[]): Page {
  return {
    title: text === '' ? 'Search' : `Results for “${text}”`,
    content:
      text === '' ? (
        <p>
          Search for a page, the URL of an endpoint, a name or email address, the ID of an event, a session,
          an entry or a request, or the identifier of one of your users.
        </p>
      ) : (
        <Results text={text} results={results} />
      ),
  };
}

function Results({
  text,
  results,
}: {
  readonly text: string;
  readonly results: readonly SearchResult[];
}): VNode {
  const pages = pagesNamed(usePage(), text).map((page) => ({ kind: 'Page', ...page }));
  return (
    <Table
      caption="Results"
      rows={[...pages, ...results]}
      keyOf={({ path }) => path}
      columns={[
        { title: 'Kind', isShort: true, cell: ({ kind }) => kind },
        { title: 'Result', cell: ({ title, path }) => <a href={path}>{title}</a> },
      ]}
    />
  );
}
