import type { ComponentChildren, VNode } from 'preact';
import { mayPerform } from '../../auth/index.js';
import { usePage } from '../page-context.js';

/** A paragraph that links to another page. */
export function Link({ to, children }: { readonly to: string; readonly children: string }): VNode {
  return (
    <p>
      <a href={to}>{children}</a>
    </p>
  );
}

interface ButtonLinkProps {
  readonly to: string;
  readonly kind?: 'first' | 'second' | 'danger';
  readonly children: ComponentChildren;
  /** Read to screen readers after the label, if several links of a page have the same label. */
  readonly of?: string;
}

/** A link to a form, which looks like a button. */
export function ButtonLink({ to, kind = 'first', children, of }: ButtonLinkProps): VNode {
  return (
    <a class={`button ${kind}`} href={to}>
      {children}
      {of ? <span class="unseen">{` ${of}`}</span> : null}
    </a>
  );
}

interface AllowedProps {
  /** The `operationId` of an operation of the dashboard API. */
  readonly operation: string;
  /** Shown to the other users. */
  readonly otherwise?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Shows something only to users whose role may perform the operation. */
export function Allowed({ operation, otherwise = null, children }: AllowedProps): VNode {
  const { user } = usePage();
  return <>{user && mayPerform(user, operation) ? children : otherwise}</>;
}
