import { Get, type Type } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import type { DashboardPermission } from '../auth/index.js';
import type { Page, PageResponse } from './page.js';
import { DashboardPage, environmentFor, Visit, type PageVisit } from './page-route.decorator.js';
import { EmptyState, FormProblem, inParagraph } from './parts/elements.js';
import {
  FilterChips,
  FilterForm,
  Pagination,
  Results,
  SavedFilterMenu,
  SAVED_FILTERS_MESSAGES,
  SplitView,
} from './parts/list.js';
import { Table, type Column, type Selection } from './parts/table.js';
import { queryFrom, submitted } from './page-input.js';

/** One page of a list, as services return it, and the texts of the page about it. */
export interface ListResult<Row> {
  readonly data: readonly Row[];
  readonly next_cursor?: string | null;
  /** `Views` of the list, also above nothing. */
  readonly views?: ComponentChildren;
  /** Above and below the table. */
  readonly above?: ComponentChildren;
  readonly below?: ComponentChildren;
  /** In place of the table, if it depends on the search why nothing was found. */
  readonly empty?: EmptyList | undefined;
  /** The tools for the results, such as `Exports`. */
  readonly tools?: ComponentChildren;
  readonly selection?: Selection<Row>;
  /** The further changes in the address of the other pages: undefined removes a parameter. */
  readonly changes?: Readonly<Record<string, string | undefined>>;
}

interface EmptyList {
  readonly title: string;
  readonly text: ComponentChildren;
}

export interface ListDescription<Row, Query = object> extends Pick<
  Page,
  'title' | 'parent' | 'about' | 'messages'
> {
  /** Links and buttons beside the heading; in place of a list that is empty although nothing filters it. */
  readonly actions?: ComponentChildren;
  /** `Filter`, `FilterChoice` and so on. */
  readonly filters?: ComponentChildren;
  /** The label of the button that applies the filters. */
  readonly apply?: string;
  /** The query that is read in place of that of the address. */
  readonly query?: PageVisit['query'];
  /** Whether the list may be updated live. */
  readonly canBeLive?: boolean;
  /** Whether entries open beside the list. */
  readonly isSplit?: boolean;
  /** The path that the IDs of entries follow, if it is not that of the list. */
  readonly entriesPath?: string;
  /** The filter without which nothing is listed. With it, the page asks for no other value. */
  readonly requires?: string & keyof Query;
  /** At the end of the heading, also of an empty list, once the required filter is set. */
  readonly actionsOfChosen?: ComponentChildren;
  /** @param limit the maximum number of rows */
  rows(query: Query, limit: number): Promise<ListResult<Row>>;
  /** Defaults to the ID. */
  keyOf?(row: Row): string | number;
  /** The content of the table, for screen readers. Defaults to the title. */
  readonly caption?: string;
  /** See `Table`. */
  readonly isDense?: boolean;
  /** See `Table`. */
  isTinted?(row: Row): boolean;
  readonly columns: readonly Column<Row>[];
  /** Below what was found, also if that is nothing. */
  readonly after?: ComponentChildren;
  /** Shown if nothing was found. */
  readonly empty: EmptyList;
}

const ROWS_PER_PAGE = 50;
/** If the texts of the rows are so long that the page would be too large. */
const FEWER_ROWS_PER_PAGE = 20;

/**
 * A controller with a list. It has the permission and request limit of the operation. Filters that are not accepted are shown
 * again with the reason.
 *
 * @param operation that returns the list
 * @param type the class of the query, if the list has filters, which users can save
 */
export function ListPage<Query extends object>(permission: DashboardPermission, type?: Type<Query>) {
  abstract class ListController {
    abstract describe(
      visit: PageVisit,
    ): ListDescription<unknown, Query> | Promise<ListDescription<unknown, Query>>;

    @Get()
    @DashboardPage(permission, type)
    async show(@Visit() visit: PageVisit): Promise<PageResponse> {
      const list = await this.describe(visit);
      const pageOf = async (limit: number): Promise<Page> =>
        listPage(list, visit, await resultOf(list, visit, type, limit));
      return submitted(
        async () => ({ ...(await pageOf(ROWS_PER_PAGE)), withFewerRows: () => pageOf(FEWER_ROWS_PER_PAGE) }),
        () => listPage(list, visit),
      );
    }
  }
  return ListController;
}

async function resultOf<Row, Query extends object>(
  list: ListDescription<Row, Query>,
  visit: PageVisit,
  type: Type<Query> | undefined,
  limit: number,
): Promise<ListResult<Row> | undefined> {
  const { query = visit.query } = list;
  if (list.requires && !query[list.requires]) return undefined;
  if (!type) return list.rows({} as Query, limit);
  return list.rows(queryFrom(type, query, environmentFor(type, visit)), limit);
}

function listPage<Row, Query>(
  list: ListDescription<Row, Query>,
  visit: PageVisit,
  result?: ListResult<Row>,
): Page {
  const { title, parent, about, messages, apply, isSplit = false } = list;
  // What the list requires is chosen: the page is about it.
  const isChosen = list.requires !== undefined && result !== undefined;
  const filters = isChosen ? undefined : list.filters;
  const canBeLive = list.canBeLive === true && result !== undefined;
  const isUnused = !filters && result?.data.length === 0;
  const actions = isUnused ? null : list.actions;
  const shown = result ? (
    rowsOf(list, result, visit.query['cursor'] === undefined, isUnused)
  ) : list.requires && !visit.query[list.requires] ? (
    <EmptyState title="No customer is selected">
      <p>Enter the identifier that your system has for the customer, or choose one in “All customers”.</p>
    </EmptyState>
  ) : undefined;
  const results = (
    <Results canBeLive={canBeLive}>
      <FormProblem />
      {result?.views}
      {result && <FilterChips />}
      {shown}
    </Results>
  );
  return {
    title,
    parent,
    about,
    actions: isChosen ? (
      <>
        {actions}
        <SavedFilterMenu />
        {list.actionsOfChosen}
      </>
    ) : (
      actions
    ),
    messages: isChosen ? { ...messages, ...SAVED_FILTERS_MESSAGES } : messages,
    content: filters ? (
      <>
        <FilterForm
          tools={result?.tools}
          apply={apply}
          canBeLive={canBeLive}
          opensPage={list.requires !== undefined}
        >
          {filters}
        </FilterForm>
        {isSplit ? <SplitView entriesPath={list.entriesPath}>{results}</SplitView> : results}
      </>
    ) : (
      shown
    ),
  };
}

function rowsOf<Row, Query>(
  list: ListDescription<Row, Query>,
  result: ListResult<Row>,
  isFirstPage: boolean,
  isUnused: boolean,
): VNode {
  const { title, caption = title, keyOf = idOf, after } = list;
  const { data, next_cursor: nextCursor = null, above, below, selection, changes } = result;
  const empty = result.empty ?? (isFirstPage ? list.empty : undefined);
  return (
    <>
      {data.length === 0 && empty ? (
        <EmptyState title={empty.title}>
          {inParagraph(empty.text)}
          {isUnused && list.actions ? <div class="actions">{list.actions}</div> : null}
        </EmptyState>
      ) : (
        <>
          {above}
          <Table {...list} caption={caption} rows={data} keyOf={keyOf} selection={selection} />
          {below}
        </>
      )}
      <Pagination nextCursor={nextCursor} changes={changes} />
      {after}
    </>
  );
}

const idOf = (row: unknown): string => (row as { readonly id: string }).id;
