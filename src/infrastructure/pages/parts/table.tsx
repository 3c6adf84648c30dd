import type { ComponentChildren, VNode, FunctionComponent } from 'preact';
import { mayPerform, type DashboardOperationName } from '../../auth/index.js';
import { usePage } from '../page.js';
import { ButtonLink, Foreign, Middle, Moment, RelativeTime, shortened } from './elements.js';

/**
 * What a column shows. Its width and how a long value is shortened follow from it, so that each row is one line:
 *
 * - `main`: what the row is about, with the width that the others leave. On a phone, it is the first line of the row.
 * - `text`: any other text
 * - `time` (relative), `moment`, `status`, `number`, `user`, `short` (a word or two), `id`: as wide as such values
 * - `buttons`: small ones; `check`: a checkbox
 */
type ColumnKind =
  'main' | 'text' | 'time' | 'moment' | 'status' | 'number' | 'user' | 'short' | 'id' | 'buttons' | 'check';

/** Its functions are methods, so that a `ListPage` can return the columns of any rows. */
export interface Column<Row> {
  readonly title: string;
  readonly kind: ColumnKind;
  /** Returns what is shown. A time is shown relative to now, or in full in a column of the kind `moment`. */
  cell(row: Row): ComponentChildren | Date;
  /** Where the value leads. */
  to?(row: Row): string;
}

interface RowAction<Row> {
  readonly operation: DashboardOperationName;
  /** What happens, such as "Remove". */
  readonly label: string;
  /** Returns the page that asks before it happens; undefined if it cannot happen to the row. */
  to(row: Row): string | undefined;
  /** Returns what it happens to, for screen readers. */
  of(row: Row): string;
}

/** The column with a button that ends something, for users who may do it. */
export function actionColumn<Row>({ operation, label, to, of }: RowAction<Row>): Column<Row> {
  return {
    title: 'Actions',
    kind: 'buttons',
    cell: (row) => {
      const path = to(row);
      return path === undefined ? null : (
        <ButtonLink operation={operation} to={path} kind="danger" of={of(row)}>
          {label}
        </ButtonLink>
      );
    },
  };
}

/** On a phone, values of these kinds do not say what they are. */
const TITLED: ReadonlySet<ColumnKind> = new Set(['number', 'time', 'moment', 'short', 'id', 'text']);

type Entries = readonly (readonly [name: string, value: ComponentChildren])[];

/** `pages.mjs` relies on it. */
const ROW_ID_PREFIX = 'entry-';

interface TableProps<Row> {
  /** Read to screen readers; not shown. */
  readonly caption: string;
  readonly columns: readonly Column<NoInfer<Row>>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** Many rows, which are a little lower. Live updates know the rows by their IDs, so a page has at most one such table. */
  readonly isDense?: boolean;
  readonly selection?: Selection<NoInfer<Row>> | undefined;
}

/**
 * A table. On a phone, each row becomes a block of two or three lines. The roles keep the table a table for screen readers,
 * because browsers take a table with another `display` value for plain text.
 */
export function Table<Row>(props: TableProps<Row>): VNode {
  const { caption, rows, keyOf, isDense = false, selection } = props;
  const { user } = usePage();
  const isSelectable =
    selection &&
    user &&
    mayPerform(user, selection.operation) &&
    rows.some((row) => selection.selectable(row));
  const columns = isSelectable ? [checkColumn(selection), ...props.columns] : props.columns;
  const table = (
    <table role="table" class={isDense ? 'data dense' : 'data'}>
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, kind }) => (
            <th key={title} role="columnheader" scope="col" class={kind}>
              {kind === 'check' || kind === 'buttons' ? <span class="unseen">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} id={isDense ? `${ROW_ID_PREFIX}${keyOf(row)}` : undefined} role="row">
            {columns.map((column) => (
              <Cell
                key={column.title}
                {...column}
                value={column.cell(row)}
                path={column.to?.(row)}
                isTitled={!isDense && TITLED.has(column.kind)}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return isSelectable ? <SelectionBar {...selection}>{table}</SelectionBar> : table;
}

interface CellProps extends Pick<Column<never>, 'title' | 'kind'> {
  readonly value: ComponentChildren | Date;
  readonly path: string | undefined;
  readonly isTitled: boolean;
}

function Cell({ title, kind, value, path, isTitled }: CellProps): VNode {
  const shown = shownAs(kind, value);
  return (
    <td role="cell" data-title={isTitled && (value || value === 0) ? title : undefined} class={kind}>
      {path === undefined ? shown : <a href={path}>{shown}</a>}
    </td>
  );
}

function shownAs(kind: ColumnKind, value: ComponentChildren | Date): ComponentChildren {
  if (value instanceof Date)
    return kind === 'moment' ? <Moment time={value} /> : <RelativeTime time={value} />;
  return typeof value === 'string' ? <Middle text={value} /> : value;
}

/** Names and values of one thing. Entries whose value is null are left out. */
export function Details({ entries }: { readonly entries: Entries }): VNode {
  return (
    <dl>
      {entries
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name}-value`}>{typeof value === 'string' ? <Foreign text={value} /> : value}</dd>,
        ])}
    </dl>
  );
}

/** The most important numbers of a page. */
export function Tiles({ entries }: { readonly entries: Entries }): VNode {
  return (
    <dl class="tiles">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The parameter with the selected rows. */
const SELECTED = 'selected';
/** Sent besides the selected rows, so that a form without any is not taken for one about all rows. */
const NO_ROW = 'none';

/** What is done with selected rows, by users who may do it. */
export interface Selection<Row> {
  readonly operation: DashboardOperationName;
  /** The page that asks before it acts on the selected rows. */
  readonly action: string;
  /** The label of the button. A script adds how many things are selected. */
  readonly label: string;
  /** What the rows are about, in the singular and the plural. Several rows can be about the same thing. */
  readonly things: readonly [one: string, many: string];
  /** What can be done with other rows than the selected ones. */
  readonly links?: ComponentChildren;
  /** Returns the value of a row and what it is about, for screen readers; undefined if it cannot be selected. */
  selectable(row: Row): Readonly<Record<'value' | 'of', string>> | undefined;
}

type SelectionBarProps = Pick<Selection<never>, 'action' | 'label' | 'things' | 'links'>;

/** Wraps a table with a column of checkboxes, and offers below it what can be done with the selected rows. */
const SelectionBar: FunctionComponent<SelectionBarProps> = ({ action, label, things, links, children }) => (
  <form class="selection" method="get" action={action}>
    {children}
    <div class="bar">
      <label class="checkbox needs-script">
        <input type="checkbox" class="select-all" /> Select all on this page
      </label>
      <input type="hidden" name={SELECTED} value={NO_ROW} />
      <button class="second">
        {label} <span class="count" data-things={things.join(' ')} />
      </button>
      {links}
    </div>
  </form>
);

/** The column with the checkboxes. A page has up to 50 of them, so they have few attributes. */
function checkColumn<Row>({ selectable }: Selection<Row>): Column<Row> {
  return {
    title: 'Select',
    kind: 'check',
    cell: (row) => {
      const found = selectable(row);
      return found ? (
        <input
          type="checkbox"
          name={SELECTED}
          value={found.value}
          aria-label={`Select ${shortened(found.of)}`}
        />
      ) : null;
    },
  };
}
