import { Fragment, type VNode } from 'preact';
import { mayPerform } from '../auth/index.js';
import type { PlatformEnvironment } from '../config/index.js';
import { dashboardPath } from '../http/index.js';
import { accountEntries, allEntries, menuGroups, tabsOf, type MenuEntry } from './menu.js';
import { usePage, type PageContext } from './page.js';
import { Foreign } from './parts/elements.js';
import { Form } from './parts/form.js';
import { Icon } from './parts/icon.js';
import { pathWith } from './parts/list.js';
import { UTC, ZONE_PARAMETER } from './time-zones.js';

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
  const groups = menuGroups().map(({ label, entries }) => ({ label, entries: entries.filter(allowed) }));
  return (
    <nav aria-label="Main">
      {groups
        .filter(({ entries }) => entries.length > 0)
        .map(({ label: name, entries }) => (
          <Fragment key={name}>
            <p class="group" aria-hidden="true">
              {name}
            </p>
            <EntryList label={name} entries={entries} />
          </Fragment>
        ))}
    </nav>
  );
}

interface EntryListProps {
  readonly label?: string;
  readonly entries: readonly MenuEntry[];
}

function EntryList({ label, entries }: EntryListProps): VNode {
  const page = usePage();
  const current = currentPath(page);
  return (
    <ul aria-label={label}>
      {entries.map((entry) => {
        const to = pathOf(entry, page.environment);
        return (
          <li key={to}>
            <a href={to} aria-current={to === page.path ? 'page' : to === current ? 'true' : undefined}>
              <Icon name={entry.icon} />
              {entry.label}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

/** Links between the pages of one entry of the navigation, or between those about one user. */
export function EntryTabs(): VNode | null {
  const page = usePage();
  const { environment, path, query } = page;
  const current = allEntries().find((entry) => pathOf(entry, environment) === path);
  const user = current?.tabOf === undefined ? undefined : query['external_user_id'];
  const tabs = tabsOf(current?.tabOf ?? current?.path ?? '')
    .filter(isAllowed(page))
    .filter(({ tabOf }) => !user || tabOf !== undefined);
  if (tabs.length < 2) return null;
  return (
    <nav class="page-tabs" aria-label="Tabs">
      {tabs.map((tab) => {
        const to = pathOf(tab, environment);
        const { label, labelOfOne = label } = tab;
        return (
          <a
            key={to}
            href={pathWith(to, {}, { external_user_id: user })}
            aria-current={to === path ? 'page' : undefined}
          >
            {user ? labelOfOne : tab.tabOf === undefined ? `All ${label.toLowerCase()}` : label}
          </a>
        );
      })}
    </nav>
  );
}

/** The name of the user, the pages about the account, the time zone, and the logout. */
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
        <EntryList entries={accountEntries()} />
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
        </button>{' '}
        <a href="/time-zone">
          Choose<span class="unseen"> a time zone</span>
        </a>
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
            {SHORT_NAMES[each]}
            {/* A phone does not show it. */}
            <span class="rest">{ENVIRONMENT_NAMES[each].slice(SHORT_NAMES[each].length)}</span>
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

/** The beginnings of their names, for phones. */
const SHORT_NAMES: Readonly<Record<PlatformEnvironment, string>> = { development: 'Dev', production: 'Prod' };

/** Returns the pages with a name, or another word for it, in which a word begins with the text, and that the user may see. */
export function pagesNamed(page: PageContext, text: string): { title: string; path: string }[] {
  return allEntries()
    .filter(isAllowed(page))
    .filter(({ label, words = '' }) => ` ${label} ${words}`.toLowerCase().includes(` ${text.toLowerCase()}`))
    .map((entry) => ({ title: entry.label, path: pathOf(entry, page.environment) }));
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

function isAllowed({ user }: PageContext): (entry: MenuEntry) => boolean {
  return ({ permission }) => permission === undefined || (user !== undefined && mayPerform(user, permission));
}

function pathOf({ path }: MenuEntry, environment: PlatformEnvironment): string {
  return path.startsWith('/') ? path : dashboardPath(environment, ...(path ? [path] : []));
}

/** Returns the path of the entry that the page belongs to: the longest one that its path begins with. */
function currentPath({ path, environment }: PageContext): string | undefined {
  const isIn = (whole: string): boolean => path === whole || path.startsWith(`${whole}/`);
  return menuGroups()
    .flatMap(({ entries }) => entries)
    .filter((entry) => {
      const own = pathOf(entry, environment);
      const covered = (entry.covers ?? []).map((name) =>
        pathOf({ ...entry, path: siblingOf(entry.path, name) }, environment),
      );
      return covered.some(isIn) || (own === dashboardPath(environment) ? path === own : isIn(own));
    })
    .map((entry) => pathOf(entry, environment))
    .toSorted((a, b) => b.length - a.length)[0];
}

function siblingOf(path: string, name: string): string {
  return path.replace(/[^/]*$/, name);
}
