import type { VNode } from 'preact';
import { usePage } from '../page-context.js';
import { pathWith } from './filter-form.js';

interface PaginationProps {
  readonly nextCursor: string | null;
  /** What else changes in the address of the next page: undefined removes a parameter. */
  readonly changes?: Readonly<Record<string, string | undefined>>;
}

/** Links to the next page of a list, and back to its start. Cursors lead forward only. */
export function Pagination({ nextCursor, changes = {} }: PaginationProps): VNode | null {
  const { path, query } = usePage();
  const isFirst = query['cursor'] === undefined;
  if (isFirst && nextCursor === null) return null;
  return (
    <nav class="pagination" aria-label="Pages">
      {isFirst ? null : <a href={pathWith(path, query, { cursor: undefined })}>Back to the first page</a>}
      {nextCursor === null ? (
        <span>This is the last page.</span>
      ) : (
        <a href={pathWith(path, query, { ...changes, cursor: nextCursor, live: undefined })}>Next page</a>
      )}
    </nav>
  );
}
