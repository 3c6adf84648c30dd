import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { isOfReference, REFERENCE_PATH } from './api-operations.js';
import type { CatalogGroup } from './guides.js';

const SITE = 'Merchant Connectivity';

export interface SitePage {
  readonly title: string;
  readonly description?: string;
  /** The path of the page as Markdown. */
  readonly markdown?: string;
  /** The path of the page, to mark its link in the navigation. */
  readonly path?: string;
  readonly groups: readonly CatalogGroup[];
  readonly content: ComponentChildren;
  /** A script and a style sheet of `/docs/assets` besides those of every page. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  /** Takes the place of the list of guides. */
  readonly navigation?: VNode;
}

export function renderSitePage(page: SitePage): string {
  return `<!doctype html>${renderToString(<SiteLayout {...page} />)}`;
}

function SiteLayout(page: SitePage): VNode {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${page.title} · ${SITE}`}</title>
        {page.description ? <meta name="description" content={page.description} /> : null}
        {page.markdown ? <link rel="alternate" type="text/markdown" href={page.markdown} /> : null}
        <link rel="stylesheet" href="/docs/assets/site.css" />
        {(page.styles ?? []).map((file) => (
          <link rel="stylesheet" href={`/docs/assets/${file}`} />
        ))}
        <link rel="icon" href="data:," />
        <script type="module" src="/docs/assets/site.mjs" />
        {(page.scripts ?? []).map((file) => (
          <script type="module" src={`/docs/assets/${file}`} />
        ))}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <SiteHeader {...page} />
        <div class="frame">
          <nav id="navigation" class="sidebar" aria-label="Documentation" popover="auto">
            {page.navigation ??
              page.groups.map(({ title, entries }) => (
                <section>
                  <h2>{title}</h2>
                  <ul>
                    {entries.map((entry) => (
                      <li>
                        <a href={entry.path} aria-current={entry.path === page.path ? 'page' : undefined}>
                          {entry.title}
                        </a>
                      </li>
                    ))}
                  </ul>
                </section>
              ))}
          </nav>
          <main id="content">{page.content}</main>
        </div>
      </body>
    </html>
  );
}

function SiteHeader({ path }: Pick<SitePage, 'path'>): VNode {
  return (
    <header class="top">
      <button class="menu" popovertarget="navigation">
        Menu
      </button>
      <a class="product" href="/docs">
        {SITE} <span>Docs</span>
      </a>
      {/* Requires the script, which shows it. */}
      <form class="search" role="search" hidden>
        <input
          type="search"
          placeholder="Search"
          aria-label="Search the documentation"
          autocomplete="off"
          spellcheck={false}
          maxlength={100}
        />
        <kbd aria-hidden="true">/</kbd>
        <p class="unseen" role="status" />
        <ul class="results" hidden />
      </form>
      <nav class="links" aria-label="Sections">
        <a href="/docs/quickstart">Quickstart</a>
        <a href={REFERENCE_PATH} aria-current={path && isOfReference(path) ? 'page' : undefined}>
          API reference
        </a>
      </nav>
    </header>
  );
}
