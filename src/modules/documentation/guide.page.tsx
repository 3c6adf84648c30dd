import type { ComponentChildren, VNode } from 'preact';
import type { CatalogEntry } from './guides.js';
import type { RenderedMarkdown } from './rendered-markdown.js';

interface GuideContentProps {
  readonly guide: RenderedMarkdown;
  readonly previous: CatalogEntry | undefined;
  readonly next: CatalogEntry | undefined;
}

/** A guide with the list of its sections, and links to the guides before and after it. */
export function GuideContent({ guide, previous, next }: GuideContentProps): VNode {
  const sections = guide.sections.filter(({ depth }) => depth === 2 || depth === 3);
  return (
    <div class="guide">
      {sections.length > 1 ? (
        <nav class="contents" aria-labelledby="contents">
          <h2 id="contents">On this page</h2>
          <ul>
            {sections.map(({ id, text, depth }) => (
              <li class={`depth-${depth}`}>
                <a href={`#${id}`}>{breakable(text)}</a>
              </li>
            ))}
          </ul>
        </nav>
      ) : null}
      {/* Rendered from the files of the repository, without any HTML that they contain. */}
      <article class="prose" dangerouslySetInnerHTML={{ __html: guide.html }} />
      <nav class="neighbors" aria-label="Previous and next page">
        {previous ? <Neighbor entry={previous} label="Previous" /> : <span />}
        {next ? <Neighbor entry={next} label="Next" /> : null}
      </nav>
    </div>
  );
}

/** Lets the browser break long names, such as those of errors, after underscores. */
const breakable = (text: string): ComponentChildren => text.split(/(?<=_)/).map((part) => [part, <wbr />]);

function Neighbor({ entry, label }: { readonly entry: CatalogEntry; readonly label: string }): VNode {
  return (
    <a href={entry.path}>
      <span>{label}</span>
      {entry.title}
    </a>
  );
}
