import type { ComponentChildren, VNode } from 'preact';

/** The most important numbers of a page. */
export function Tiles({
  entries,
}: {
  readonly entries: readonly (readonly [name: string, value: ComponentChildren])[];
}): VNode {
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
