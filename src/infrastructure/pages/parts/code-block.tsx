import type { VNode } from 'preact';

interface CodeBlockProps {
  readonly title: string;
  readonly code: string;
}

/** Text to read or copy. The button appears with the script that copies. */
export function CodeBlock({ title, code }: CodeBlockProps): VNode {
  return (
    <figure class="code-block">
      <figcaption>
        {title}
        <button type="button" class="second copy needs-script" aria-label={`Copy: ${title}`}>
          Copy
        </button>
      </figcaption>
      <pre tabindex={0} aria-label={title} role="region">
        <code>{code}</code>
      </pre>
    </figure>
  );
}
