import { Fragment, type VNode } from 'preact';
import { mayPerform, type DashboardOperationName } from '../auth/index.js';
import type { PlatformEnvironment } from '../config/index.js';
import { dashboardPath } from '../http/index.js';
import { usePage, type PageContext } from './page.js';
import { Form } from './parts/form.js';
import { Icon, type IconName } from './parts/icon.js';

interface NavigationItem {
  readonly label: string;
  readonly icon: IconName;
  readonly path: string | ((environment: PlatformEnvironment) => string);
  /** The operation whose permission the page requires. */
  readonly operation?: DashboardOperationName;
}

const ENVIRONMENT = 'Environment';

/** The pages that every part of the dashboard links to. Pages that the user may not see are left out. */
const GROUPS: readonly { readonly label: string; readonly items: readonly NavigationItem[] }[] = [
  {
    label: ENVIRONMENT,
    items: [
      {
        label: 'Overview',
        icon: 'layout-dashboard',
        path: (environment) => dashboardPath(environment),
        operation: 'listRequestLogs',
      },
      environmentItem('Request logs', 'scroll-text', 'request-logs', 'listRequestLogs'),
      environmentItem('Events', 'zap', 'events', 'listRequestLogs'),
      environmentItem('Webhook endpoints', 'webhook', 'webhook-endpoints', 'listWebhookEndpoints'),
      environmentItem('API credentials', 'key-round', 'api-credentials', 'listApiClients'),
      environmentItem('Merchant accounts', 'credit-card', 'merchant-accounts', 'listMerchantAccounts'),
      environmentItem('Sign-in links', 'log-in', 'sign-in-links', 'listSignInLinks'),
      environmentItem('Agents', 'bot', 'agents', 'listAgentConnections'),
      environmentItem('Merchants', 'store', 'merchants', 'listMerchants'),
    ],
  },
  {
    label: 'Organization',
    items: [
      { label: 'Users', icon: 'users', path: '/dashboard/users', operation: 'listUsers' },
      {
        label: 'Access grants',
        icon: 'user-check',
        path: '/dashboard/access-grants',
        operation: 'listAccessGrants',
      },
      {
        label: 'Allowed domains',
        icon: 'globe',
        path: '/dashboard/allowed-domains',
        operation: 'listAllowlistedDomains',
      },
      {
        label: 'Single sign-on',
        icon: 'shield-check',
        path: '/dashboard/single-sign-on',
        operation: 'listSamlConfigurations',
      },
      { label: 'Audit log', icon: 'history', path: '/dashboard/audit-log', operation: 'listAuditEntries' },
      { label: 'Settings', icon: 'settings', path: '/dashboard/organization', operation: 'getOrganization' },
    ],
  },
  {
    label: 'You',
    items: [
      { label: 'Devices', icon: 'smartphone', path: '/dashboard/devices' },
      { label: 'Connect a device', icon: 'link', path: '/device' },
      { label: 'Your account', icon: 'circle-user', path: '/account' },
      { label: 'Documentation', icon: 'book-open', path: '/docs' },
    ],
  },
];

function environmentItem(
  label: string,
  icon: IconName,
  name: string,
  operation: DashboardOperationName,
): NavigationItem {
  return { label, icon, path: (environment) => dashboardPath(environment, name), operation };
}

/**
 * The navigation of a logged-in user: a column, or on a phone a menu that opens without a script. The style sheet shows the links
 * while the menu is open, so that the page has them only once.
 */
export function Navigation(): VNode {
  return (
    <>
      <details class="menu">
        <summary>Menu</summary>
      </details>
      <Links />
    </>
  );
}

function Links(): VNode {
  const page = usePage();
  const { user, path, environment } = page;
  const current = currentItem(page);
  return (
    <nav aria-label="Main">
      {allowedGroups(page).map(({ label: name, items }) => (
        <Fragment key={name}>
          <p class="group" aria-hidden="true">
            {name}
          </p>
          <ul aria-label={name}>
            {items.map((item) => {
              const to = pathOf(item, environment);
              return (
                <li key={to}>
                  <a href={to} aria-current={to === path ? 'page' : to === current ? 'true' : undefined}>
                    <Icon name={item.icon} />
                    {item.label}
                  </a>
                </li>
              );
            })}
          </ul>
        </Fragment>
      ))}
      <p class="user" title={user?.email}>
        {user?.email}
      </p>
      <Form action="/logout">
        <button class="quiet">
          <Icon name="log-out" />
          Log out
        </button>
      </Form>
    </nav>
  );
}

/** Links to the same page in each environment; from the page of one thing, to the list that it is in. */
export function EnvironmentSwitch(): VNode {
  const { environment, environments, path } = usePage();
  const [, , isInEnvironment, page] =
    /^(\/dashboard)\/(development|production)(?:\/([\w-]+))?/.exec(path) ?? [];
  return (
    <ul class="environments" aria-label="Environment">
      {environments.map((each) => (
        <li key={each}>
          <a
            class={`environment ${each}`}
            href={isInEnvironment && page ? dashboardPath(each, page) : dashboardPath(each)}
            aria-current={each === environment ? 'true' : undefined}
          >
            {ENVIRONMENT_NAMES[each]}
          </a>
        </li>
      ))}
    </ul>
  );
}

export const ENVIRONMENT_NAMES: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'Development',
  production: 'Production',
};

/** Returns the groups that have a page that the user may see. The first one has the name of the environment. */
function allowedGroups(page: PageContext): (typeof GROUPS)[number][] {
  return GROUPS.map(({ label, items }) => ({
    label: label === ENVIRONMENT ? ENVIRONMENT_NAMES[page.environment] : label,
    items: items.filter(isAllowed(page)),
  })).filter(({ items }) => items.length > 0);
}

/** Returns the pages whose names contain a text, and that the user may see. */
export function pagesNamed(page: PageContext, text: string): { title: string; path: string }[] {
  return allowedGroups(page)
    .flatMap(({ items }) => items)
    .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
    .map((item) => ({ title: item.label, path: pathOf(item, page.environment) }));
}

/** A search over everything. The keys `/` and `Ctrl+K` lead to it. */
export function SearchBox(): VNode {
  const { environment, query } = usePage();
  return (
    <form class="search" role="search" action={dashboardPath(environment, 'search')}>
      <input
        type="search"
        name="q"
        aria-label="Search"
        aria-keyshortcuts="/ Control+K"
        placeholder="Search"
        maxlength={256}
        value={query['q']}
      />
    </form>
  );
}

function isAllowed({ user }: PageContext): (item: NavigationItem) => boolean {
  return ({ operation }) => operation === undefined || (user !== undefined && mayPerform(user, operation));
}

function pathOf({ path }: NavigationItem, environment: PlatformEnvironment): string {
  return typeof path === 'string' ? path : path(environment);
}

/** Returns the path of the item that the page belongs to: the longest one that its path begins with. */
function currentItem({ path, environment }: PageContext): string | undefined {
  return GROUPS.flatMap(({ items }) => items.map((item) => pathOf(item, environment)))
    .filter((each) => path === each || (path.startsWith(`${each}/`) && each !== dashboardPath(environment)))
    .toSorted((a, b) => b.length - a.length)[0];
}
