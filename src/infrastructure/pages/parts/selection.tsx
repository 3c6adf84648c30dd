import type { ComponentChildren, FunctionComponent } from 'preact';
import type { Column } from './table.js';

/** The parameter with the selected rows. */
const SELECTED = 'selected';
/** Sent besides the selected rows, so that a form without any is not taken for one about all rows. */
const NO_ROW = 'none';

interface SelectionProps {
  /** The page that asks before it acts on the selected rows. */
  readonly action: string;
  /** The label of the button. A script adds how many things are selected. */
  readonly label: string;
  /** What the rows are about, in the singular and the plural. Several rows can be about the same thing. */
  readonly things: readonly [one: string, many: string];
  /** What can be done with other rows than the selected ones. */
  readonly links?: ComponentChildren;
}

/** Wraps a table whose rows have a `RowCheckbox`, and offers below it what can be done with the selected rows. */
export const Selection: FunctionComponent<SelectionProps> = ({ action, label, things, links, children }) => (
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

/**
 * The column with the checkboxes. A page has up to 50 of them, so they have few attributes.
 *
 * @param selectable returns the value of a row and what it is about, for screen readers; undefined if it cannot be selected
 */
export function checkColumn<Row>(
  selectable: (row: Row) => Readonly<Record<'value' | 'of', string>> | undefined,
): Column<Row> {
  return {
    title: 'Select',
    kind: 'check',
    cell: (row) => {
      const found = selectable(row);
      return found ? (
        <input type="checkbox" name={SELECTED} value={found.value} aria-label={`Select ${found.of}`} />
      ) : null;
    },
  };
}
