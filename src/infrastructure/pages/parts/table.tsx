import type { ComponentChildren, VNode } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
  /** Words such as a role are not broken, and neither are buttons. Other text is broken anywhere, so that it fits. */
  readonly isShort?: boolean;
}

function classOf<Row>({ isNumber, isShort }: Column<Row>): string | undefined {
  return [isNumber && 'number', isShort && 'short'].filter(Boolean).join(' ') || undefined;
}

type Entries = readonly (readonly [name: string, value: ComponentChildren])[];

/** `pages.mjs` relies on it. */
const ROW_ID_PREFIX = 'entry-';

interface TableProps<Row> {
  /** Read to screen readers; not shown. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /**
   * Many short rows, which take two lines each on a phone. The titles of the columns stay in view. Live updates know the rows
   * by their IDs, so a page has at most one such table.
   */
  readonly isDense?: boolean;
}

/**
 * A table. On a phone, each row becomes a block with the titles of the columns beside the values. The roles keep the table a
 * table for screen readers, because browsers take a table with another `display` value for plain text.
 */
export function Table<Row>({ caption, columns, rows, keyOf, isDense = false }: TableProps<Row>): VNode {
  return (
    <table role="table" class={isDense ? 'data dense' : 'data'}>
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.title} role="columnheader" scope="col" class={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} id={isDense ? `${ROW_ID_PREFIX}${keyOf(row)}` : undefined} role="row">
            {columns.map((column) => (
              <td
                key={column.title}
                role="cell"
                data-title={isDense ? undefined : column.title}
                class={classOf(column)}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Names and values of one thing. Entries whose value is null are left out. */
export function Details({ entries }: { readonly entries: Entries }): VNode {
  return (
    <dl>
      {entries
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}-value`}>{value}</dd>])}
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
