import type { ComponentChildren, FunctionComponent, VNode } from 'preact';

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
    <div>
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

/** A page has up to 50 of them, so they have few attributes. @param of read to screen readers: what the row is about */
export function RowCheckbox({ value, of }: Readonly<Record<'value' | 'of', string>>): VNode {
  return <input type="checkbox" name={SELECTED} value={value} aria-label={`Select ${of}`} />;
}
