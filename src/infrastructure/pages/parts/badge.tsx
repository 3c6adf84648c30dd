import type { ComponentChildren, VNode } from 'preact';

/** How a value is colored. The words must say the same, because not everyone sees the color. */
export type Tone = 'good' | 'warn' | 'bad' | 'soft';

/** A state in a word or two. */
export function Badge({
  tone,
  children,
}: {
  readonly tone: Tone;
  readonly children: ComponentChildren;
}): VNode {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}
