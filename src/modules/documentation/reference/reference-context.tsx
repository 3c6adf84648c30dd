import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { ReferenceDocument } from './described-operation.js';
import { highlightedCode, renderDescription } from '../rendered-markdown.js';

/** The context that the parts of the reference share. */
export interface Reference {
  readonly document: ReferenceDocument;
  /** Returns where a name in backticks leads: an operation, an error code, or a page. */
  readonly linkOf: (name: string) => string | undefined;
  /** The address of the platform API in examples. */
  readonly baseUrl: string;
}

export const ReferenceContext = createContext<Reference | undefined>(undefined);

export function useReference(): Reference {
  const reference = useContext(ReferenceContext);
  if (!reference) throw new Error('This part is shown outside of the reference.');
  return reference;
}

/** A description in Markdown. */
export function Description({ text }: { readonly text: string | undefined }): VNode | null {
  const { linkOf } = useReference();
  if (!text) return null;
  return <div class="description" dangerouslySetInnerHTML={{ __html: renderDescription(text, linkOf) }} />;
}

/** A value as formatted JSON. */
export function JsonBlock({ value }: { readonly value: unknown }): VNode {
  const html = highlightedCode(JSON.stringify(value, null, 2), 'json');
  return (
    <pre tabindex={0}>
      <code dangerouslySetInnerHTML={{ __html: html }} />
    </pre>
  );
}
