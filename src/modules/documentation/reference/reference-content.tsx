import type { VNode } from 'preact';
import type { ApiOperation, ApiTopic } from '../api-operations.js';
import { breakable, type DeploymentAddress } from '../documentation.pages.js';
import { Description } from './reference-context.js';

interface NavigationProps {
  readonly topics: readonly ApiTopic[];
  /** The path of the page. */
  readonly path: string;
}

/** The topics with their operations, of which those of the page are open. */
export function ReferenceNavigation({ topics, path }: NavigationProps): VNode {
  return (
    <div data-filtered="details">
      <p>
        <a href="/docs">All documentation</a>
        <a href="/docs/api" aria-current={path === '/docs/api' ? 'page' : undefined}>
          API reference
        </a>
      </p>
      <Filter />
      {topics.map((topic) => (
        <details open={topic.path === path} data-tag={topic.tag}>
          <summary>
            {topic.title} <small>{topic.surface.replace(' API', '')}</small>
          </summary>
          <ul>
            {topic.path === path ? null : (
              <li>
                <a href={topic.path}>All of {topic.title}</a>
              </li>
            )}
            {topic.operations.map(({ href, summary, method, path: name }) => (
              <li data-words={`${topic.tag} ${method} ${name}`}>
                <a href={href}>{summary}</a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </div>
  );
}

/** Requires the script, which shows it. */
function Filter(): VNode {
  return (
    <input
      class="filter"
      type="search"
      placeholder="Filter operations"
      aria-label="Filter operations"
      hidden
    />
  );
}

interface OverviewProps {
  readonly topics: readonly ApiTopic[];
  /** The addresses of the surfaces that have their own. */
  readonly addresses: readonly DeploymentAddress[];
  /** Markdown: what all operations have in common. */
  readonly conventions: string;
}

/** All operations by topic, and what they have in common. */
export function OverviewContent({ topics, addresses, conventions }: OverviewProps): VNode {
  return (
    <div class="prose overview">
      <h1>API reference</h1>
      <p>
        Every operation and field, as in <a href="/openapi.json">openapi.json</a> and{' '}
        <a href="/openapi.yaml">openapi.yaml</a>. The page of an operation sends requests to this deployment.{' '}
        <a href="#conventions">All operations</a> have the same rules for requests, responses, limits and
        errors.
      </p>
      {addresses.length > 0 ? (
        <p>
          Operations of these surfaces can be tried only at the address of the surface:{' '}
          {addresses.map(({ name, url }, index) => (
            <>
              {index > 0 ? ', ' : ''}
              <a href={`${url}/docs/api`}>{name}</a>
            </>
          ))}
          .
        </p>
      ) : null}
      <div data-filtered="section">
        <Filter />
        {topics.map(({ tag, path, description, operations }) => (
          <section>
            <h2>
              <a href={path}>{tag}</a>
            </h2>
            <Description text={description} />
            <ul class="operations">
              {operations.map((operation) => (
                <ListedOperation {...operation} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      <h2 id="conventions">All operations</h2>
      <Description text={conventions} />
    </div>
  );
}

/** An operation whose ID is its name, because addresses of the overview can name an operation, too. */
function ListedOperation({ id, href, method, path, summary, tag }: ApiOperation): VNode {
  return (
    <li id={id} data-words={tag}>
      <a href={href}>
        {summary}
        <code>
          <b class={`method ${method.toLowerCase()}`}>{method}</b> {breakable(path)}
        </code>
      </a>
    </li>
  );
}

interface TopicProps {
  readonly topic: ApiTopic;
  /** The sections of the operations, as HTML. */
  readonly sections: readonly string[];
}

/** The operations of a topic. */
export function TopicContent({ topic: { title, surface, description }, sections }: TopicProps): VNode {
  return (
    <div class="prose topic">
      <h1>{title}</h1>
      {surface === '' ? null : <p class="surface">{surface}</p>}
      <Description text={description} />
      {/* Rendered one after the other by the same parts. */}
      <div dangerouslySetInnerHTML={{ __html: sections.join('') }} />
    </div>
  );
}
