import { Controller, Get } from '@nestjs/common';
import type { VNode } from 'preact';
import {
  DashboardPage,
  EmptyState,
  inEachEnvironment,
  isolated,
  pagesNamed,
  Table,
  usePage,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { MAX_SEARCH_LENGTH, SearchService, type SearchResults } from './search.service.js';
import { REQUEST_LOG_PERMISSIONS } from '../request-logs/index.js';

@Controller(inEachEnvironment('search'))
export class SearchPage {
  constructor(private readonly search: SearchService) {}

  /** @param query.q the text; what is too long is cut off */
  @Get()
  @DashboardPage(REQUEST_LOG_PERMISSIONS.listRequestLogs)
  async find(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { q } = visit.query;
    const text = typeof q === 'string' ? q.replaceAll('\0', '').trim().slice(0, MAX_SEARCH_LENGTH) : '';
    if (text === '') return { title: 'Search', content: WHAT_TO_SEARCH };
    const found = await this.search.find(visit, text, () => visit.request.socket.destroyed);
    return { title: `Results for “${isolated(text)}”`, content: <Results text={text} {...found} /> };
  }
}

const WHAT_TO_SEARCH = (
  <p>
    Search for a page, the URL of an endpoint, a name or email address, the ID of an event, a session, an
    entry or a request, or the identifier of a customer.
  </p>
);

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
            Search for a part of the identifier of a customer, or of a name, email address or URL, or for a
            whole ID.
          </p>
        </EmptyState>
      ) : (
        <Table
          caption="Results"
          rows={all}
          keyOf={({ path }) => path}
          columns={[
            { title: 'Kind', kind: 'state', cell: ({ kind }) => kind },
            { title: 'Result', kind: 'main', cell: ({ title }) => title, to: ({ path }) => path },
          ]}
        />
      )}
    </div>
  );
}
