import type { VNode, ComponentChildren } from 'preact';
import type { CatalogGroup, CatalogEntry } from './guides.js';
import { highlightedCode, type RenderedMarkdown } from './rendered-markdown.js';

/** A public address of this deployment. */
export interface DeploymentAddress {
  readonly name: string;
  readonly url: string;
}

interface HomeContentProps {
  readonly groups: readonly CatalogGroup[];
  readonly addresses: readonly DeploymentAddress[];
  readonly platformUrl: string;
}

/** The first page of the site. */
export function HomeContent({ groups, addresses, platformUrl }: HomeContentProps): VNode {
  return (
    <div class="home">
      <section class="hero">
        <div>
          <h1>Merchant Connectivity documentation</h1>
          <p>
            Issue MCP tokens for agents, look up the merchant accounts that were detected for your users, and
            receive webhooks when something changes.
          </p>
          <p class="actions">
            <a class="action" href="/docs/quickstart">
              Quickstart
            </a>
            <a class="action second" href="/docs/api">
              API reference
            </a>
            <a class="action second" href="/docs/llms.txt">
              For agents
            </a>
          </p>
        </div>
        <FirstRequest platformUrl={platformUrl} />
      </section>
      {groups.map(({ title, entries }) => (
        <section>
          <h2>{title}</h2>
          <ul class="cards">
            {entries.map((entry) => (
              <li>
                <a href={entry.path}>{entry.title}</a>
                <p>{withCode(entry.topic)}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {addresses.length > 0 ? (
        <section>
          <h2>Addresses of this deployment</h2>
          <dl class="addresses">
            {addresses.map(({ name, url }) => (
              <>
                <dt>{name}</dt>
                <dd>
                  <code>{url}</code>
                </dd>
              </>
            ))}
          </dl>
        </section>
      ) : null}
    </div>
  );
}

/** Returns text in which backticks enclose code. */
function withCode(text: string): (string | VNode)[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>));
}

function FirstRequest({ platformUrl }: Pick<HomeContentProps, 'platformUrl'>): VNode {
  const request = [
    `curl -sS ${platformUrl}/mcp/tokens/create \\`,
    '  -u "$client_id:$secret" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"external_user_id":"user-1"}'`,
  ].join('\n');
  return (
    <figure class="example">
      <figcaption>Create an MCP token</figcaption>
      <pre tabindex={0}>
        <code dangerouslySetInnerHTML={{ __html: highlightedCode(request, 'sh') }} />
      </pre>
    </figure>
  );
}

interface GuideContentProps {
  readonly guide: RenderedMarkdown;
  /** When the page last changed, such as `2026-01-31`. */
  readonly date: string | undefined;
  readonly previous: CatalogEntry | undefined;
  readonly next: CatalogEntry | undefined;
}

const DATE = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** A guide with the list of its sections, and links to the guides before and after it. */
export function GuideContent({ guide, date, previous, next }: GuideContentProps): VNode {
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
      {date === undefined ? null : (
        <p class="date">
          Last changed on <time dateTime={date}>{DATE.format(new Date(date))}</time>
        </p>
      )}
      <nav class="neighbors" aria-label="Previous and next page">
        {previous ? <Neighbor entry={previous} label="Previous" /> : <span />}
        {next ? <Neighbor entry={next} label="Next" /> : null}
      </nav>
    </div>
  );
}

/** Lets the browser break long names, such as those of errors, after underscores and slashes. */
export const breakable = (text: string): ComponentChildren =>
  text.split(/(?<=[_/])/).map((part) => [part, <wbr />]);

function Neighbor({ entry, label }: { readonly entry: CatalogEntry; readonly label: string }): VNode {
  return (
    <a href={entry.path}>
      <span>{label}</span>
      {entry.title}
    </a>
  );
}

interface DownloadsContentProps {
  readonly packages: readonly { readonly name: string; readonly checksum: string }[];
  /** The address of this page. */
  readonly url: string;
}

export function DownloadsContent({ packages, url }: DownloadsContentProps): VNode {
  return (
    <div class="prose">
      <h1>Downloads</h1>
      <p>
        The <a href="/docs/typescript">TypeScript SDK</a> and the{' '}
        <a href="/docs/command-line">command line</a>, as npm packages, and the{' '}
        <a href="/docs/python">Python SDK</a>, as a wheel, of the release of this deployment and of the
        releases before it. A file with the name of a release never changes. Their SHA-256 checksums are also
        in <a href="/docs/downloads/SHA256SUMS">SHA256SUMS</a>.
      </p>
      {packages.map(({ name, checksum }) => (
        <section>
          <h2>
            <a href={`/docs/downloads/${name}`}>{name}</a>
          </h2>
          <pre tabindex={0}>
            <code>{`${name.endsWith('.whl') ? 'pip' : 'npm'} install ${url}/${name}`}</code>
          </pre>
          <p>
            SHA-256: <code>{checksum}</code>
          </p>
        </section>
      ))}
    </div>
  );
}

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
