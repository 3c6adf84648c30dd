import { Fragment, type VNode } from 'preact';
import { mayPerform, type DashboardOperationName } from '../auth/index.js';
import type { PlatformEnvironment } from '../config/index.js';
import { dashboardPath } from '../http/index.js';
import { usePage, type PageContext } from './page.js';
import { Foreign } from './parts/elements.js';
import { Form } from './parts/form.js';
import { Icon, type IconName } from './parts/icon.js';
import { pathWith } from './parts/list.js';
import { UTC, ZONE_PARAMETER } from './time-zones.js';

interface NavigationItem {
  readonly label: string;
  readonly icon: IconName;
  readonly path: string | ((environment: PlatformEnvironment) => string);
  /** The operation whose permission the page requires. */
  readonly operation?: DashboardOperationName;
}

/** @param path of a page of the organization, or the name of one of an environment */
const item = (
  label: string,
  icon: IconName,
  path: string,
  operation?: DashboardOperationName,
): NavigationItem => ({
  label,
  icon,
  path: path.startsWith('/') ? path : (environment) => dashboardPath(environment, ...(path ? [path] : [])),
  ...(operation && { operation }),
});

/** The pages that every part of the dashboard links to. Pages that the user may not see are left out. */
const GROUPS: readonly { readonly label: string; readonly items: readonly NavigationItem[] }[] = [
  {
    label: 'Activity',
    items: [
      item('Overview', 'layout-dashboard', '', 'listRequestLogs'),
      item('Request logs', 'scroll-text', 'request-logs', 'listRequestLogs'),
      item('Events', 'zap', 'events', 'listRequestLogs'),
    ],
  },
  {
    label: 'Integration',
    items: [
      item('Webhook endpoints', 'webhook', 'webhook-endpoints', 'listWebhookEndpoints'),
      item('API credentials', 'key-round', 'api-credentials', 'listApiClients'),
      item('Merchants', 'store', 'merchants', 'listMerchants'),
    ],
  },
  {
    label: 'Accounts',
    items: [
      item('Merchant accounts', 'credit-card', 'merchant-accounts', 'listMerchantAccounts'),
      item('Sign-in links', 'log-in', 'sign-in-links', 'listSignInLinks'),
      item('Agents', 'bot', 'agents', 'listAgentConnections'),
    ],
  },
  {
    label: 'Organization',
    items: [
      item('Users', 'users', '/dashboard/users', 'listUsers'),
      item('Allowed domains', 'globe', '/dashboard/allowed-domains', 'listAllowlistedDomains'),
      item('Single sign-on', 'shield-check', '/dashboard/single-sign-on', 'listSamlConfigurations'),
      item('Audit log', 'history', '/dashboard/audit-log', 'listAuditEntries'),
      item('Settings', 'settings', '/dashboard/organization', 'getOrganization'),
    ],
  },
];
const ACCOUNT_ITEMS = [
  item('Your account', 'circle-user', '/account'),
  item('Devices', 'smartphone', '/dashboard/devices'),
  item('Connect a device', 'link', '/device'),
  item('Documentation', 'book-open', '/docs'),
];
/** Pages that the search finds besides. */
const FURTHER_ITEMS = [
  item('Find or erase a user', 'users', 'external-users', 'listRequestLogs'),
  item('Access grants', 'user-check', '/dashboard/access-grants', 'listAccessGrants'),
];

/** Other words that find a page. */
const WORDS: Readonly<Partial<Record<string, string>>> = {
  'Request logs': 'api calls errors',
  Events: 'resend retry redeliver',
  'Webhook endpoints': 'receiver url test pause signature',
  'API credentials': 'rotate secret key client id',
  Agents: 'ai mcp assistant connector',
  'Find or erase a user': 'delete gdpr privacy forget personal data customer',
  Users: 'invite colleague role member team',
  'Allowed domains': 'prove dns txt',
  'Audit log': 'history changes export verify stream siem',
  'Single sign-on': 'sso saml openid oidc okta entra',
  'Your account': 'password passkey two-factor second factor 2fa mfa',
  Devices: 'cli mcs log in',
  Settings: 'organization logo',
};

/**
 * The navigation of a logged-in user: a column, or on a phone a menu that opens without a script. The style sheet shows the links
 * while the menu is open, so that the page has them only once.
 */
export function Navigation(): VNode {
  return (
    <>
      <details class="menu">
        <summary>
          <Icon name="menu" />
          Menu
        </summary>
      </details>
      <Links />
    </>
  );
}

function Links(): VNode {
  const allowed = isAllowed(usePage());
  const groups = GROUPS.map(({ label, items }) => ({ label, items: items.filter(allowed) }));
  return (
    <nav aria-label="Main">
      {groups
        .filter(({ items }) => items.length > 0)
        .map(({ label: name, items }) => (
          <Fragment key={name}>
            <p class="group" aria-hidden="true">
              {name}
            </p>
            <ItemList label={name} items={items} />
          </Fragment>
        ))}
    </nav>
  );
}

interface ItemListProps {
  readonly label?: string;
  readonly items: readonly NavigationItem[];
}

function ItemList({ label, items }: ItemListProps): VNode {
  const page = usePage();
  const current = currentItem(page);
  return (
    <ul aria-label={label}>
      {items.map((item) => {
        const to = pathOf(item, page.environment);
        return (
          <li key={to}>
            <a href={to} aria-current={to === page.path ? 'page' : to === current ? 'true' : undefined}>
              <Icon name={item.icon} />
              {item.label}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

/** Whose account it is, the pages about it, the time zone, and the logout. */
export function AccountMenu(): VNode {
  const { user } = usePage();
  return (
    <details class="popover account">
      <summary title={user?.email}>
        <Icon name="circle-user" />
        <span class="unseen">Account menu</span>
        <Icon name="chevron-down" />
      </summary>
      <div class="panel">
        <p>
          <strong>
            <Foreign text={user?.name ?? ''} />
          </strong>
          <span class="hint">{user?.email}</span>
          <span class="hint">
            <Foreign text={user?.organizationName ?? ''} />
          </span>
        </p>
        <ItemList items={ACCOUNT_ITEMS} />
        <TimeZone />
        <Form action="/logout">
          <button class="quiet">
            <Icon name="log-out" />
            Log out
          </button>
        </Form>
      </div>
    </details>
  );
}

/** Names the time zone of the times on the page, and changes it. The script offers that of the browser. */
function TimeZone(): VNode {
  const { timeZone, hasAddress, path, query } = usePage();
  // A page that responds to a form has no address of its own.
  if (!hasAddress) return <p class="zone">{`Times in ${timeZone}`}</p>;
  return (
    <div class="zone">
      <Form action="/time-zone">
        {`Times in ${timeZone}`}
        <input type="hidden" name="page" value={pathWith(path, query, {})} />
        {timeZone === UTC ? null : (
          <button class="quiet" name={ZONE_PARAMETER} value={UTC}>
            Use UTC
          </button>
        )}
        <button class="quiet local" name={ZONE_PARAMETER} hidden>
          Use local time
        </button>
      </Form>
    </div>
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

/** Returns the pages with a name, or another word for it, in which a word begins with the text, and that the user may see. */
export function pagesNamed(page: PageContext, text: string): { title: string; path: string }[] {
  return [...GROUPS.flatMap(({ items }) => items), ...ACCOUNT_ITEMS, ...FURTHER_ITEMS]
    .filter(isAllowed(page))
    .filter(({ label }) => ` ${label} ${WORDS[label] ?? ''}`.toLowerCase().includes(` ${text.toLowerCase()}`))
    .map((item) => ({ title: item.label, path: pathOf(item, page.environment) }));
}

/** A search over everything. The keys `/` and `Ctrl+K` lead to it. With a script, the results appear below it while the user types. */
export function SearchBox(): VNode {
  const { environment, query } = usePage();
  const path = dashboardPath(environment, 'search');
  return (
    <form class="search" role="search" action={path}>
      <input
        type="search"
        name="q"
        aria-label="Search"
        aria-keyshortcuts="/ Control+K"
        placeholder="Search"
        maxlength={256}
        autocomplete="off"
        value={query['q']}
        hx-get={path}
        hx-trigger="input changed delay:300ms"
        hx-sync="this:replace"
        hx-target="next .found"
        hx-select=".results"
        hx-swap="innerHTML ignoreTitle:true"
      />
      <div class="panel found" role="region" aria-label="Search results" aria-live="polite" />
    </form>
  );
}

function isAllowed({ user }: PageContext): (item: NavigationItem) => boolean {
  return ({ operation }) => operation === undefined || (user !== undefined && mayPerform(user, operation));
}

function pathOf({ path }: NavigationItem, environment: PlatformEnvironment): string {
  return typeof path === 'string' ? path : path(environment);
}

/** Parts of paths without an item of their own, and the part whose item their pages belong to. */
const BELONGS_TO: Readonly<Partial<Record<string, string>>> = {
  'external-users': 'merchant-accounts',
  'access-grants': 'users',
  'single-sign-on-settings': 'single-sign-on',
  'audit-stream': 'audit-log',
};

/** Returns the path of the item that the page belongs to: the longest one that its path begins with. */
function currentItem({ path: address, environment }: PageContext): string | undefined {
  const path = address.replaceAll(/[\w-]+/g, (part) => BELONGS_TO[part] ?? part);
  return GROUPS.flatMap(({ items }) => items.map((item) => pathOf(item, environment)))
    .filter((each) => path === each || (path.startsWith(`${each}/`) && each !== dashboardPath(environment)))
    .toSorted((a, b) => b.length - a.length)[0];
}
