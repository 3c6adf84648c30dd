import type { ComponentChildren, VNode } from 'preact';
import { Form } from './form.js';

interface ConfirmationProps {
  /** The path that the form is sent to. */
  readonly action: string;
  /** The label of the button: what happens, such as "Delete endpoint". */
  readonly button: string;
  /** Whether the action cannot be undone. Defaults to true. */
  readonly isDestructive?: boolean;
  /** Where "Cancel" leads. */
  readonly cancel: string;
  /** What the action does, and further fields. */
  readonly children: ComponentChildren;
}

/** Asks before an action. */
export function Confirmation(props: ConfirmationProps): VNode {
  return (
    <Form action={props.action}>
      {props.children}
      <div class="actions">
        <button class={props.isDestructive === false ? undefined : 'danger'}>{props.button}</button>
        <a class="button second" href={props.cancel}>
          Cancel
        </a>
      </div>
    </Form>
  );
}
