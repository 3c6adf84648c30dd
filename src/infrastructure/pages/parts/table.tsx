import type { ComponentChildren, VNode, FunctionComponent } from 'preact';
import { mayPerform, type DashboardPermission } from '../../auth/index.js';
import { usePage } from '../page.js';
import { dayInWords, localDay, offsetAt, UTC } from '../time-zones.js';
import { shortened } from '../foreign-text.js';
import { ButtonLink, ClockTime, Foreign, Middle, Moment } from './elements.js';

/**
 * The kind of values that a column shows. Its width and how a long value is shortened follow from it, so that each row is one line:
 *
 * - `main`: what the row is about, with the width that the others leave. On a phone, it is the first line of the row.
 * - `address`: an email address or a URL; `text`: any other text
 * - `clock`: the time of day in a list by days, with a row above the first one of each day
 * - `status`: a badge and why; `state`: a badge; `short`: a word or two; `word`: one
 * - `time`, `number`, `user`, `id`: as wide as such values
 * - `buttons`: small ones; `check`: a checkbox
 */
type ColumnKind =
  | 'main'
  | 'address'
  | 'text'
  | 'clock'
  | 'time'
  | 'status'
  | 'state'
  | 'short'
  | 'word'
  | 'number'
  | 'user'
  | 'id'
  | 'buttons'
  | 'check';

/** Its functions are methods, so that a `ListPage` can return the columns of any rows. */
export interface Column<Row> {
  readonly title: string;
  readonly kind: ColumnKind;
  /** Returns what is shown. */
  cell(row: Row): ComponentChildren | Date;
  /** Where the value leads; undefined for a row whose value leads nowhere. */
  to?(row: Row): string | undefined;
  /** Whether phones and narrow windows leave the column out. The rows of phones have the first three other columns. */
  readonly isOnDeskOnly?: boolean;
  /** Whether a value, if there is one, has a line of its own on phones, below the first one. Narrow windows leave the column out. */
  readonly isSecondLine?: boolean;
  /** Whether only wide windows have the column, because the others need its place. */
  readonly isOnWideOnly?: boolean;
  /** Whether the column is left out if no row has a value. */
  readonly isOmittedIfEmpty?: boolean;
}

/** Fields of a row on a phone, apart from checkboxes and buttons. */
const PHONE_FIELDS = 3;

/** Returns the columns, of which only as many as a phone shows are not for desks alone. */
function withFewOnPhone<Row>(columns: readonly Column<Row>[]): Column<Row>[] {
  const isLeftOut = ({ isOnDeskOnly = false, isOnWideOnly = false, isSecondLine = false }: Column<Row>) =>
    isOnDeskOnly || isOnWideOnly || isSecondLine;
  const isField = (column: Column<Row>): boolean =>
    !isLeftOut(column) && column.kind !== 'check' && column.kind !== 'buttons';
  const shown = new Set(columns.filter(isField).slice(0, PHONE_FIELDS));
  return columns.map((column) => ({
    ...column,
    isOnDeskOnly: isField(column) ? !shown.has(column) : isLeftOut(column),
  }));
}

interface RowAction<Row> {
  readonly permission: DashboardPermission;
  /** The action, such as "Remove". */
  readonly label: string;
  /** Returns the page that asks before it happens; undefined if it cannot happen to the row. */
  to(row: Row): string | undefined;
  /** Returns what it happens to, for screen readers. */
  of(row: Row): string;
}

/** The column with a button that ends something, for users who may do it. */
export function actionColumn<Row>({ permission, label, to, of }: RowAction<Row>): Column<Row> {
  return {
    title: 'Actions',
    kind: 'buttons',
    cell: (row) => {
      const path = to(row);
      return path === undefined ? null : (
        <ButtonLink permission={permission} to={path} kind="danger" of={of(row)}>
          {label}
        </ButtonLink>
      );
    },
  };
}

/** On a phone, values of these kinds do not say what they are. */
const TITLED: ReadonlySet<ColumnKind> = new Set(['number', 'time', 'short', 'word', 'id', 'text', 'address']);

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
  /** Whether the row is about something that should be noticed. Its words must say so, too. */
  readonly isTinted?: ((row: NoInfer<Row>) => boolean) | undefined;
}

/**
 * A table. On a phone, each row becomes a block with three fields, which are the same in all rows, and perhaps a second line. The roles keep the table a table for screen readers,
 * because browsers take a table with another `display` value for plain text.
 */
export function Table<Row>(props: TableProps<Row>): VNode {
  const { caption, rows, keyOf, isDense = false, selection, isTinted } = props;
  const { user, now, timeZone } = usePage();
  const zone = offsetAt(now, timeZone);
  const isSelectable =
    selection &&
    user &&
    mayPerform(user, selection.permission) &&
    rows.some((row) => selection.selectable(row));
  const columns = withFewOnPhone(
    isSelectable ? [checkColumn(selection), ...props.columns] : props.columns,
  ).filter((column) => column.isOmittedIfEmpty !== true || rows.some((row) => column.cell(row)));
  const table = (
    <table role="table" class={isDense ? 'data dense' : 'data'}>
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.title} role="columnheader" scope="col" class={classOf(column, zone)}>
              <Head {...column} zone={zone} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) => [
          <DayRow key={`day-${index}`} columns={columns} row={row} before={rows[index - 1]} />,
          <tr
            key={keyOf(row)}
            id={isDense ? `${ROW_ID_PREFIX}${keyOf(row)}` : undefined}
            class={isTinted?.(row) ? 'tinted' : undefined}
            role="row"
          >
            {columns.map((column) => (
              <Cell
                key={column.title}
                {...column}
                value={column.cell(row)}
                path={column.to?.(row)}
                isTitled={!isDense && column.isSecondLine !== true && TITLED.has(column.kind)}
              />
            ))}
          </tr>,
        ])}
      </tbody>
    </table>
  );
  return isSelectable ? <SelectionBar {...selection}>{table}</SelectionBar> : table;
}

interface HeadProps extends Pick<Column<never>, 'title' | 'kind'> {
  readonly zone: string;
}

function Head({ title, kind, zone }: HeadProps): VNode {
  if (kind === 'check' || kind === 'buttons') return <span class="unseen">{title}</span>;
  return (
    <>
      {title}
      {kind === 'clock' || kind === 'time' ? <span class="zone"> {zone}</span> : null}
    </>
  );
}

/** @param zone of the times, if the class is that of the head of a column: most zones need more room than `UTC` */
function classOf(column: Omit<Column<never>, 'cell'>, zone = UTC): string {
  const { kind, isOnDeskOnly, isOnWideOnly, isSecondLine } = column;
  const isZoned = zone !== UTC && (kind === 'clock' || kind === 'time');
  const visibility = isOnWideOnly
    ? ' desk wide'
    : isSecondLine
      ? ' desk second'
      : isOnDeskOnly
        ? ' desk'
        : '';
  return `${kind}${isZoned ? ' zoned' : ''}${visibility}`;
}

interface DayRowProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
  readonly before: Row | undefined;
}

/** Names the day of a row in a list by days, if the row before is from another day. */
function DayRow<Row>({ columns, row, before }: DayRowProps<Row>): VNode | null {
  const { now, timeZone } = usePage();
  const clock = columns.find(({ kind }) => kind === 'clock');
  if (!clock) return null;
  const timeOf = (each: Row): Date => clock.cell(each) as Date;
  const [day, today] = [localDay(timeOf(row), timeZone), localDay(now, timeZone)];
  if (before !== undefined && day === localDay(timeOf(before), timeZone)) return null;
  // A cell over all columns would keep the places of those that a narrow window leaves out.
  const isLeftOut = ({ isOnDeskOnly, isOnWideOnly }: Column<Row>): boolean =>
    isOnDeskOnly === true || isOnWideOnly === true;
  const others = columns.filter(isLeftOut);
  return (
    <tr id={`day-${day}`} class="day" role="row">
      <th role="rowheader" scope="rowgroup" colspan={columns.length - others.length}>
        {dayInWords(day, today)} <span class="zone">{offsetAt(timeOf(row), timeZone)}</span>
      </th>
      {others.map((column) => (
        <td key={column.title} role="cell" class={classOf(column)} />
      ))}
    </tr>
  );
}

interface CellProps extends Omit<Column<never>, 'cell' | 'to'> {
  readonly value: ComponentChildren | Date;
  readonly path: string | undefined;
  readonly isTitled: boolean;
}

function Cell({ value, path, isTitled, ...column }: CellProps): VNode {
  const { title, kind } = column;
  const shown = shownAs(kind, value);
  return (
    <td
      role="cell"
      data-title={isTitled && (value || value === 0) ? title : undefined}
      class={classOf(column)}
    >
      {path === undefined ? shown : <a href={path}>{shown}</a>}
    </td>
  );
}

function shownAs(kind: ColumnKind, value: ComponentChildren | Date): ComponentChildren {
  if (value instanceof Date)
    return kind === 'clock' ? <ClockTime time={value} /> : <Moment time={value} isInColumn />;
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
export const SELECTED = 'selected';
/** Sent besides the selected rows, so that a form without any is not taken for one about all rows. */
const NO_ROW = 'none';

/** The actions for selected rows, for users who may perform them. */
export interface Selection<Row> {
  readonly permission: DashboardPermission;
  /** The page that asks before it acts on the selected rows. */
  readonly action: string;
  /** The label of the button. A script adds how many things are selected. */
  readonly label: string;
  /** The things that the rows are about, in the singular and the plural. Several rows can be about the same thing. */
  readonly things: readonly [one: string, many: string];
  /** The links to actions for other rows than the selected ones. */
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
