import { Get, type Type } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import type { DashboardOperationName } from '../auth/index.js';
import { fieldOf } from '../validation/index.js';
import type { Page, PageResponse } from './page.js';
import { DashboardPage, Visit, type PageVisit } from './page-route.decorator.js';
import { Done, EmptyState, FormProblem } from './parts/elements.js';
import { FilterForm, Pagination, Results } from './parts/list.js';
import { Table, type Column } from './parts/table.js';
import { queryFrom, submitted } from './submitted.js';

/** One page of a list, as services return it, and what the page says about it. */
interface Found<Row> {
  readonly data: readonly Row[];
  readonly next_cursor?: string | null;
  /** Above and below the table. */
  readonly above?: ComponentChildren;
  readonly below?: ComponentChildren;
}

/** A page with a list. */
export interface ListDescription<Row, Query = object> extends Pick<Page, 'title' | 'parent' | 'about'> {
  /** Links and buttons beside the heading; in place of a list that is empty although nothing filters it. */
  readonly actions?: ComponentChildren;
  /** What forms that lead to the list have done, by the values of `done`. */
  readonly messages?: Readonly<Record<string, string>>;
  /** `Filter`, `FilterChoice` and so on. */
  readonly filters?: ComponentChildren;
  /** The label of the button that applies the filters. */
  readonly apply?: string;
  /** The filter without which nothing is listed. */
  readonly requires?: string & keyof Query;
  rows(query: Query): Promise<Found<Row>>;
  /** Defaults to the ID. */
  keyOf?(row: Row): string | number;
  /** What the table contains, for screen readers. Defaults to the title. */
  readonly caption?: string;
  readonly columns: readonly Column<Row>[];
  /** Shown if nothing was found. */
  readonly empty: { readonly title: string; readonly text: ComponentChildren };
}

/**
 * A controller with a list. It has the permission and request limit of the operation. Filters that are not accepted are shown
 * again with the reason.
 *
 * @param operation that returns the list
 * @param type the class of the query, if the list has filters, which users can save
 */
export function ListPage<Query extends object>(operation: DashboardOperationName, type?: Type<Query>) {
  abstract class ListController {
    abstract describe(visit: PageVisit): ListDescription<unknown, Query>;

    @Get()
    @DashboardPage(operation, type)
    show(@Visit() visit: PageVisit): Promise<PageResponse> {
      const list = this.describe(visit);
      return submitted(
        async () => listPage(list, visit, await found(list, visit, type)),
        () => listPage(list, visit),
      );
    }
  }
  return ListController;
}

async function found<Row, Query extends object>(
  list: ListDescription<Row, Query>,
  visit: PageVisit,
  type: Type<Query> | undefined,
): Promise<Found<Row> | undefined> {
  const { query } = visit;
  if (list.requires && !query[list.requires]) return undefined;
  if (!type) return list.rows({} as Query);
  const hasEnvironment = fieldOf(type.prototype as object, 'environment') !== undefined;
  return list.rows(queryFrom(type, query, hasEnvironment ? { environment: visit.environment } : {}));
}

function listPage<Row, Query>(list: ListDescription<Row, Query>, visit: PageVisit, found?: Found<Row>): Page {
  const { title, parent, about, actions, messages, filters, apply } = list;
  const isEmpty = found?.data.length === 0 && visit.query['cursor'] === undefined;
  const isUnused = isEmpty && !filters;
  const content =
    found && (isEmpty ? <Empty {...list} isUnused={isUnused} /> : <Rows list={list} found={found} />);
  return {
    title,
    ...(parent && { parent }),
    ...(about !== undefined && { about }),
    actions: isUnused ? null : actions,
    content: (
      <>
        {messages && <Done messages={messages} />}
        {filters ? (
          <>
            <FilterForm {...(apply !== undefined && { apply })}>{filters}</FilterForm>
            <Results>
              <FormProblem />
              {content}
            </Results>
          </>
        ) : (
          content
        )}
      </>
    ),
  };
}

type EmptyProps = Pick<ListDescription<never>, 'empty' | 'actions'> & { readonly isUnused: boolean };

function Empty({ empty: { title, text }, actions, isUnused }: EmptyProps): VNode {
  return (
    <EmptyState title={title}>
      <p>{text}</p>
      {isUnused ? actions : null}
    </EmptyState>
  );
}

interface RowsProps<Row> {
  readonly list: Pick<ListDescription<Row>, 'title' | 'caption' | 'columns' | 'keyOf'>;
  readonly found: Found<Row>;
}

function Rows<Row>({ list, found }: RowsProps<Row>): VNode {
  const { title, caption = title, columns, keyOf = idOf } = list;
  const { data, next_cursor: nextCursor = null, above, below } = found;
  return (
    <>
      {above}
      <Table caption={caption} rows={data} keyOf={keyOf} columns={columns} />
      {below}
      <Pagination nextCursor={nextCursor} />
    </>
  );
}

const idOf = (row: unknown): string => (row as { readonly id: string }).id;
