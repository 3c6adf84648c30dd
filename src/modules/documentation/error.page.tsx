import type { VNode } from 'preact';

/** A page of the site that a path may have meant. */
export interface Suggestion {
  readonly title: string;
  readonly href: string;
}

interface ErrorContentProps {
  readonly title: string;
  readonly message: string;
  readonly suggestions: readonly Suggestion[];
}

/** The page for a path that does not exist. */
export function ErrorContent({ title, message, suggestions }: ErrorContentProps): VNode {
  return (
    <div class="prose">
      <h1>{title}</h1>
      <p>{message}</p>
      {suggestions.length > 0 ? (
        <>
          <p>You may be looking for one of these:</p>
          <ul>
            {suggestions.map((suggestion) => (
              <li>
                <a href={suggestion.href}>{suggestion.title}</a>
              </li>
            ))}
          </ul>
        </>
      ) : null}
      <p>
        Go to the <a href="/docs">documentation</a> or the <a href="/docs/api">API reference</a>.
      </p>
    </div>
  );
}
