import type { ComponentChildren, VNode } from 'preact';

interface Tab {
  readonly title: string;
  readonly content: ComponentChildren;
}

/** Parts of a page of which a script shows one at a time. Without it, they stand below each other. */
export function Tabs({ tabs }: { readonly tabs: readonly Tab[] }): VNode {
  const idOf = (title: string): string => `tab-${title.toLowerCase()}`;
  return (
    <>
      <div class="tabs" role="tablist">
        {tabs.map(({ title }, index) => (
          <button
            key={title}
            type="button"
            role="tab"
            class="quiet"
            aria-controls={idOf(title)}
            aria-selected={index === 0 ? 'true' : 'false'}
            tabindex={index === 0 ? 0 : -1}
          >
            {title}
          </button>
        ))}
      </div>
      {tabs.map(({ title, content }) => (
        <section key={title} id={idOf(title)} class="tab" aria-label={title}>
          <h2>{title}</h2>
          {content}
        </section>
      ))}
    </>
  );
}
