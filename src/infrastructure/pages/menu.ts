import type { DashboardPermission } from '../auth/index.js';
import type { IconName } from './parts/icon.js';

/** The group of the entries that the account menu shows. */
export const ACCOUNT_MENU = 'account menu';

/** A page that every part of the dashboard links to. */
export interface MenuEntry {
  readonly label: string;
  readonly icon: IconName;
  /** The path of a page of the organization, which begins with `/`, or the name of one of an environment. */
  readonly path: string;
  /** Users without it do not see the entry. */
  readonly permission?: DashboardPermission;
  /** The heading of its group, or `ACCOUNT_MENU`. Only the search finds an entry without a group. */
  readonly group?: string;
  /** Entries are in the order of this number, and groups in that of their first entries. */
  readonly place: number;
  /** The path of the entry whose pages show this one as a tab. It then has no group. */
  readonly tabOf?: string;
  /** What the tab is called where the pages are about one user. Defaults to the label. */
  readonly labelOfOne?: string;
  /** Other words with which the search finds it. */
  readonly words?: string;
  /** Names of other pages that belong to it, as parts of their paths. */
  readonly covers?: readonly string[];
}

export interface MenuGroup {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
}

const entries: MenuEntry[] = [];

/** Adds pages of a capability to the menus of the dashboard and to its search. */
export function menuEntries(...added: readonly MenuEntry[]): void {
  entries.push(...added);
  entries.sort((left, right) => left.place - right.place);
}

/** Returns all entries, in order. */
export function allEntries(): readonly MenuEntry[] {
  return entries;
}

/** Returns the entry to which another page belongs. */
export function entryThatCovers(page: string): MenuEntry | undefined {
  return entries.find(({ covers }) => covers?.includes(page));
}

export function accountEntries(): readonly MenuEntry[] {
  return entries.filter(({ group }) => group === ACCOUNT_MENU);
}

/** Returns the entry with this path and those that are its tabs, in order. */
export function tabsOf(path: string): readonly MenuEntry[] {
  return entries.filter((entry) => entry.path === path || entry.tabOf === path);
}

/** Returns the groups of the main navigation, in order. */
export function menuGroups(): MenuGroup[] {
  const groups = new Set(entries.flatMap(({ group }) => (group && group !== ACCOUNT_MENU ? [group] : [])));
  return [...groups].map((label) => ({ label, entries: entries.filter(({ group }) => group === label) }));
}
