import type { VNode } from 'preact';
import type { CatalogGroup } from './guides.js';
import { highlightedCode } from './rendered-markdown.js';

/** A public address of this deployment. */
export interface DeploymentAddress {
  readonly name: string;
  readonly url: string;
}

interface HomeContentProps {
  readonly groups: readonly CatalogGroup[];
  readonly addresses: readonly DeploymentAddress[];
  /** The base URL of the platform API. */
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
