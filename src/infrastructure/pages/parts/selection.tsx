import type { FunctionComponent, VNode } from 'preact';

const FORM = 'selection';
/** The parameter with the selected rows. */
const SELECTED = 'selected';
/** Sent besides the selected rows, so that a form without any is not taken for one about all rows. */
const NO_ROW = 'none';

interface SelectionProps {
  /** The page that asks before it acts on the selected rows. */
  readonly action: string;
  /** The label of the button. A script adds the number of selected rows. */
  readonly label: string;
}

/** What can be done with the rows of a list that are selected with `RowCheckbox`, and besides, as children, with others. */
export const Selection: FunctionComponent<SelectionProps> = ({ action, label, children }) => (
  <form id={FORM} class="selection" method="get" action={action}>
    <label class="checkbox needs-script">
      <input type="checkbox" class="select-all" /> Select all on this page
    </label>
    <input type="hidden" name={SELECTED} value={NO_ROW} />
    <button class="second">
      {label} <span class="count" />
    </button>
    {children}
  </form>
);

/** @param of read to screen readers: what the row is about */
export function RowCheckbox({ value, of }: Readonly<Record<'value' | 'of', string>>): VNode {
  return (
    <input
      type="checkbox"
      class="row"
      form={FORM}
      name={SELECTED}
      value={value}
      aria-label={`Select ${of}`}
      autocomplete="off"
    />
  );
}
