import type { ComponentChildren, VNode } from 'preact';
import { environmentOf } from '../http/index.js';
import {
  AccountMenu,
  ENVIRONMENT_NAMES,
  EntryTabs,
  EnvironmentSwitch,
  Navigation,
  SearchBox,
} from './navigation.js';
import { CurrentPage, usePage, type Page, type PageContext } from './page.js';
import { isolated } from './foreign-text.js';
import { Breakable, Done, Foreign, Moment, Notice } from './parts/elements.js';

/** The frame around every page. Logged-in users get the navigation, and the scripts that improve pages. */
export function Layout({ page, context }: { readonly page: Page; readonly context: PageContext }): VNode {
  const isError = (page.status ?? 200) >= 400;
  const environment = environmentOf(context.path) ? [ENVIRONMENT_NAMES[context.environment]] : [];
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="same-origin" />
        <title>
          {[
            `${isError ? 'Error: ' : ''}${isolated(page.title)}`,
            ...environment,
            'Merchant Connectivity',
          ].join(' · ')}
        </title>
        <link rel="stylesheet" href="/pages.css" />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        {context.user ? <Scripts /> : null}
        {page.script === undefined ? null : <script src={page.script} type="module" />}
      </head>
      <body
        class={context.user ? `dashboard ${context.environment}` : undefined}
        data-user={context.user?.userId}
      >
        <CurrentPage.Provider value={{ ...context, parent: page.parent }}>
          {context.user ? (
            <a class="skip" href="#content">
              Skip to the content
            </a>
          ) : null}
          <header>
            <p class="product">
              <img src="/favicon.svg" alt="" width="24" height="24" />
              <span title={context.user && isolated(context.user.organizationName)}>
                <Foreign text={context.user?.organizationName ?? 'Merchant Connectivity'} />
              </span>
            </p>
            {context.user ? (
              <>
                <SearchBox />
                <EnvironmentSwitch />
                <AccountMenu />
              </>
            ) : null}
          </header>
          {context.user ? <Navigation /> : null}
          <main id="content">
            <SecondFactorNotice {...context} />
            <PageHeading page={page} />
            {context.user ? <EntryTabs /> : null}
            {page.messages && <Done messages={page.messages} />}
            {page.content}
          </main>
        </CurrentPage.Provider>
      </body>
    </html>
  );
}

/** Tells users in time that they will need a second factor. */
function SecondFactorNotice({ user, now, path }: PageContext): VNode | null {
  const due = user?.secondFactorDue;
  if (!due || due <= now || path.startsWith('/account/second-factor')) return null;
  return (
    <Notice kind="bad">
      Your organization requires two-factor authentication from <Moment time={due} />.{' '}
      <a href="/account/second-factor">Set it up</a> before then.
    </Notice>
  );
}

function PageHeading({
  page: { title, about, parent, actions },
}: {
  readonly page: Page;
}): ComponentChildren {
  const { cameFrom } = usePage();
  return (
    <>
      {parent ? (
        <p class="parent">
          <a href={cameFrom?.startsWith(`${parent.path}?`) ? cameFrom : parent.path}>
            <Foreign text={parent.title} />
          </a>
        </p>
      ) : null}
      <div class="heading">
        <h1>
          <Breakable text={title} />
        </h1>
        {about === undefined ? null : (
          <p class="about" title={isolated(about)}>
            <Foreign text={about} />
          </p>
        )}
        {actions ? <div class="actions">{actions}</div> : null}
      </div>
    </>
  );
}

/** htmx must not evaluate expressions or add styles, which the content security policy forbids. */
const HTMX_SETTINGS = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
});

function Scripts(): VNode {
  return (
    <>
      <meta name="htmx-config" content={HTMX_SETTINGS} />
      <script src="/htmx.js" defer />
      <script src="/morph.js" defer />
      <script src="/pages.js" defer />
    </>
  );
}
