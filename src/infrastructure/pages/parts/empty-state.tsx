import type { ComponentChildren, VNode } from 'preact';

interface EmptyStateProps {
  readonly title: string;
  /** What to do next. */
  readonly children: ComponentChildren;
}

/** Shown in place of a list that has no entries. */
export function EmptyState({ title, children }: EmptyStateProps): VNode {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
