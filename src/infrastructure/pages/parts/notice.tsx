import type { ComponentChildren, VNode } from 'preact';
import { usePage } from '../page-context.js';

/** A success or error message, which screen readers announce when the page loads. */
export function Notice(props: {
  readonly kind: 'good' | 'bad';
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class={`notice ${props.kind}`} role={props.kind === 'bad' ? 'alert' : 'status'}>
      {props.children}
    </div>
  );
}

/** Why the form was not accepted, if it was not. */
export function Problem({ message }: { readonly message: string | undefined }): VNode | null {
  return message === undefined ? null : <Notice kind="bad">{message}</Notice>;
}

/**
 * Says what the form that led to this page has done. The redirect after a form names it in the parameter `done`; only the
 * given messages can be shown.
 */
export function Done({ messages }: { readonly messages: Readonly<Record<string, string>> }): VNode | null {
  const { done } = usePage().query;
  const message = done !== undefined && Object.hasOwn(messages, done) ? messages[done] : undefined;
  return message === undefined ? null : <Notice kind="good">{message}</Notice>;
}
