import type { VNode } from 'preact';
import {
  EmptyState,
  isolated,
  pagesNamed,
  Table,
  usePage,
  type Page,
} from '../../infrastructure/pages/index.js';
import type { SearchResults } from './search.service.js';

/** @param found undefined if there is no text */
export function searchPage(text: string, found?: SearchResults): Page {
  return {
    title: found === undefined ? 'Search' : `Results for “${isolated(text)}”`,
    content:
      found === undefined ? (
        <p>
          Search for a page, the URL of an endpoint, a name or email address, the ID of an event, a session,
          an entry or a request, or the identifier of one of your users.
        </p>
      ) : (
        <Results text={text} {...found} />
      ),
  };
}

function Results({ text, results, isLogBusy }: SearchResults & { readonly text: string }): VNode {
  const pages = pagesNamed(usePage(), text).map((page) => ({ kind: 'Page', ...page }));
  const all = [...pages, ...results];
  return (
    <div class="results">
      {isLogBusy ? (
        <p>The request log is busy, so users, events, and requests may be missing. Search again.</p>
      ) : null}
      {all.length === 0 ? (
        <EmptyState title="Nothing found">
          <p>
            Search for the beginning of the identifier of one of your users, a part of a name, email address
            or URL, or a whole ID.
          </p>
        </EmptyState>
      ) : (
        <Table
          caption="Results"
          rows={all}
          keyOf={({ path }) => path}
          columns={[
            { title: 'Kind', kind: 'status', cell: ({ kind }) => kind },
            { title: 'Result', kind: 'main', cell: ({ title }) => title, to: ({ path }) => path },
          ]}
        />
      )}
    </div>
  );
}
