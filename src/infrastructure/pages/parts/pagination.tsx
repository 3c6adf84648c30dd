import type { VNode } from 'preact';
import { usePage } from '../page-context.js';
import { pathWith } from './filter-form.js';

/** Links to the next page of a list, and back to its start. Cursors lead forward only. */
export function Pagination({ nextCursor }: { readonly nextCursor: string | null }): VNode | null {
  const { path, query } = usePage();
  const isFirst = query['cursor'] === undefined;
  if (isFirst && nextCursor === null) return null;
  return (
    <nav class="pagination" aria-label="Pages">
      {isFirst ? null : <a href={pathWith(path, query, { cursor: undefined })}>Back to the first page</a>}
      {nextCursor === null ? (
        <span>This is the last page.</span>
      ) : (
        <a href={pathWith(path, query, { cursor: nextCursor, live: undefined })}>Next page</a>
      )}
    </nav>
  );
}
