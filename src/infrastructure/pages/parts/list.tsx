import { createContext, type ComponentChildren, type FunctionComponent, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { DashboardPermission } from '../../auth/index.js';
import type { PlatformEnvironment } from '../../config/index.js';
import { dashboardPath } from '../../http/index.js';
import { DAY, HOUR } from '../../time/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH } from '../../validation/index.js';
import { usePage, type Page, type PageContext } from '../page.js';
import { EXPORT_FORMATS } from '../export-file.js';
import { localTimeOf } from '../page-input.js';
import { ZONE_PARAMETER } from '../time-zones.js';
import { Form, SelectField, TextField, ZoneField, type SelectOption } from './form.js';
import { isolated, shortened } from '../foreign-text.js';
import { entryThatCovers } from '../menu.js';
import { Badge, ButtonLink, Done, Foreign, Middle } from './elements.js';
import { Icon, type IconName } from './icon.js';

/** The list that filters and live updates replace. */
const RESULTS = 'results';

/** The tools for the results. They are outside of the results, beside the filters, and change with them. */
const TOOLS = 'tools';

interface FilterFormProps {
  readonly apply?: string;
  /** Whether the filters can be cleared: not if an option of a choice does the same. */
  readonly hasClear?: boolean;
  /** Whether the results may be updated live. */
  readonly canBeLive?: boolean;
  /** Whether updates are live unless the user stops them. */
  readonly isLive?: boolean;
  /** Whether the filters lead to another page: not only the results are replaced then. */
  readonly opensPage?: boolean;
  /** Links such as `ToolLink` and `Exports`. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

/**
 * The filters of a list, in one line, which become parameters of the page's address. With a script, they apply without the
 * button, only the results and the tools are replaced, and the address changes too. Problems with the filters are shown in the
 * results.
 *
 * @param children fields; those without a value are not applied
 */
export function FilterForm({
  apply = 'Apply filters',
  hasClear = true,
  canBeLive = false,
  isLive = false,
  opensPage = false,
  tools,
  children,
}: FilterFormProps): VNode {
  const { path, query } = usePage();
  const isSet = Object.keys(query).some((name) => !NO_FILTERS.has(name) && query[name]);
  return (
    <>
      <Done messages={SAVED_FILTERS_MESSAGES} />
      <div class="filter-line">
        <form class="filters" method="get" action={path} {...(opensPage ? {} : replacingResults(path))}>
          {/* On a phone, a script closes more than two filters until they are wanted. */}
          <details open>
            <summary>Filters</summary>
            <div class="line">
              {children}
              <div class="actions">
                <button class="second">{apply}</button>
                {/* The style sheet shows it once a filter is set, because a script leaves the form as it is. */}
                {hasClear ? (
                  <a class={isSet ? 'clear set' : 'clear'} href={path}>
                    Clear<span class="unseen"> filters</span>
                  </a>
                ) : null}
              </div>
            </div>
          </details>
        </form>
        <div id={TOOLS} class="tools">
          {tools}
          {canBeLive ? <LiveSwitch isLive={isLive} /> : null}
          <SavedFilterMenu />
        </div>
      </div>
    </>
  );
}

const replacingResults = (path: string): Readonly<Record<string, string>> => ({
  'hx-get': path,
  'hx-target': `#${RESULTS}`,
  'hx-select': `#${RESULTS}`,
  'hx-select-oob': `#${TOOLS}`,
  'hx-swap': 'outerHTML',
  'hx-push-url': 'true',
});

/** Parameters that control only the page, or are part of another filter. */
const NO_FILTERS: ReadonlySet<string> = new Set(['cursor', 'trail', 'live', 'done', 'zone']);

/** Returns whether the list is updated live. @param isDefault unless the user has chosen */
function isLiveNow({ query }: Pick<PageContext, 'query'>, isDefault: boolean): boolean {
  return isDefault ? query['live'] !== 'off' : query['live'] === 'on';
}

function LiveSwitch({ isLive: isDefault }: Required<Pick<FilterFormProps, 'isLive'>>): VNode {
  const page = usePage();
  const { path, query } = page;
  const isLive = isLiveNow(page, isDefault);
  return (
    <>
      {isLive ? (
        <span class="needs-script">
          <Badge tone="good">Live</Badge>
        </span>
      ) : null}
      <ToolLink
        icon={isLive ? 'pause' : 'radio'}
        label={isLive ? 'Stop live updates' : 'Start live updates'}
        to={pathWith(path, query, { live: isLive === isDefault ? (isLive ? 'off' : 'on') : undefined })}
        needsScript
      />
    </>
  );
}

interface ToolLinkProps {
  readonly icon: IconName;
  readonly label: string;
  readonly to: string;
  readonly needsScript?: boolean;
}

/** A link with an icon, which shows its label on hover. */
export function ToolLink({ icon, label, to, needsScript = false }: ToolLinkProps): VNode {
  return (
    <a class={needsScript ? 'tool needs-script' : 'tool'} href={to} title={label}>
      <Icon name={icon} />
      <span class="unseen">{label}</span>
    </a>
  );
}

interface ExportsProps {
  readonly path: string;
  /** The content of an export. */
  readonly hint: string;
}

/** A menu of files with the entries that the filters find. */
export function Exports({ path, hint }: ExportsProps): VNode {
  const { query } = usePage();
  return (
    <details class="popover">
      <summary class="tool" title="Export">
        <Icon name="download" />
        <span class="unseen">Export</span>
      </summary>
      <div class="panel">
        <ul>
          {EXPORT_FORMATS.map((format) => (
            <li key={format}>
              <a href={pathWith(`${path}/${format}`, query, { ...FIRST_PAGE, live: undefined })}>
                {`Export as ${format.toUpperCase()}`}
              </a>
            </li>
          ))}
        </ul>
        <p class="hint">{hint}</p>
      </div>
    </details>
  );
}

/** Filters that are rarely used, in a menu at the end of the line. */
export function FurtherFilters({ label = 'More filters', names, children }: FurtherFiltersProps): VNode {
  const { query } = usePage();
  const count = names.filter((name) => query[name]).length;
  return (
    <details class="popover further">
      <summary>
        <Icon name="plus" />
        {count === 0 ? label : `${label} (${count})`}
      </summary>
      <div class="panel">
        <IsInLine.Provider value={false}>{children}</IsInLine.Provider>
      </div>
    </details>
  );
}

/** Whether a filter is in the line above a list, and not in a menu. */
const IsInLine = createContext(true);

/** Adds a filter to the applied filters, for `FilterChips`, if it is applied. */
function useAppliedFilter(label: string, text: string | undefined, names: readonly string[]): void {
  const isInLine = useContext(IsInLine);
  if (text) usePage().appliedFilters.push({ label, text, names, isInLine });
}

interface FurtherFiltersProps {
  readonly label?: string;
  readonly names: readonly string[];
  readonly children: ComponentChildren;
}

/** Characters of the name of saved filters. */
export const MAX_FILTER_NAME_LENGTH = 64;
const SAVED_FILTERS_PATH = '/dashboard/saved-filters';

export const SAVED_FILTERS_MESSAGES = {
  filters_saved: 'The filters were saved. Open them again under “Saved filters”.',
  filters_replaced: 'The saved filters of this name were replaced by the current ones.',
  filters_deleted: 'The saved filters were deleted.',
};

/** Links to the filters that the user saved for the list, and a form that saves the current ones. */
export function SavedFilterMenu(): VNode | null {
  const { path, query, savedFilters } = usePage();
  if (!savedFilters) return null;
  const page = pathWith(path, query, {});
  const count = savedFilters.length === 0 ? '' : `\u00a0(${savedFilters.length})`;
  return (
    <details class="popover saved">
      <summary class="tool" title="Saved filters">
        <Icon name="bookmark" />
        <span class="unseen">{`Saved filters${count}`}</span>
      </summary>
      <div class="panel">
        <ul>
          {savedFilters.map(({ id, name }) => (
            <li key={id}>
              <a href={`${SAVED_FILTERS_PATH}/open/${id}`}>{name}</a>
            </li>
          ))}
        </ul>
        <SaveFiltersForm page={page} />
        {savedFilters.length === 0 ? null : (
          <form action={`${SAVED_FILTERS_PATH}/delete`}>
            <input type="hidden" name="page" value={page} />
            <button class="quiet">Delete saved filters</button>
          </form>
        )}
      </div>
    </details>
  );
}

/** @param page the address of the list with the filters; a script updates it when filters apply without a reload */
export function SaveFiltersForm({ page }: { readonly page: string }): VNode {
  return (
    <Form action={SAVED_FILTERS_PATH}>
      <input type="hidden" name="page" value={page} />
      <TextField
        name="filter_name"
        label="Save the current filters as"
        hint="Only you see them. An existing entry of the same name is replaced."
        maxLength={MAX_FILTER_NAME_LENGTH}
      />
      <button class="second">Save</button>
    </Form>
  );
}

interface FilterProps {
  readonly name: string;
  readonly label: string;
  /** A search finds parts of values, and is applied while the user types. */
  readonly type?: 'text' | 'search' | 'number';
}

/** An optional field of a `FilterForm`. */
export function Filter(props: FilterProps): VNode {
  const { name, label } = props;
  const value = usePage().query[name];
  useAppliedFilter(label, value, [name]);
  // In a menu, the label is shown. A blank placeholder lets the style sheet know whether there is a value.
  const placeholder = useContext(IsInLine) ? label : ' ';
  return <TextField {...props} placeholder={placeholder} value={value} required={false} />;
}

/** The fields `From` and `To` of a `FilterForm`, in the time zone that the heading names. They become the parameters `start` and `end`. */
export function PeriodFields(): VNode {
  const { query, timeZone } = usePage();
  const valueOf = (name: string): string | undefined =>
    localTimeOf(query[name], query[ZONE_PARAMETER], timeZone, name === 'end');
  const field = { type: 'datetime-local', required: false } as const;
  return (
    <>
      <TextField {...field} name="start" label="From" value={valueOf('start')} />
      <TextField {...field} name="end" label="To" value={valueOf('end')} />
      <ZoneField />
    </>
  );
}

const DEFAULT_PERIOD = '24h';
/** Periods that end now, with their lengths in milliseconds. */
export const PERIODS: ReadonlyMap<unknown, { readonly label: string; readonly length: number }> = new Map([
  ['1h', { label: 'Last hour', length: HOUR }],
  [DEFAULT_PERIOD, { label: 'Last 24 hours', length: DAY }],
  ['7d', { label: 'Last 7 days', length: 7 * DAY }],
]);
const PERIOD_OPTIONS = [...PERIODS].map(([value, { label }]) => ({ value: String(value), label }));

/** A choice of a period that ends now, or that of `PeriodFields`. */
export function PeriodChoice(): VNode {
  const { query, timeZone } = usePage();
  const [start, end] = ['start', 'end'].map((name) =>
    localTimeOf(query[name], query[ZONE_PARAMETER], timeZone, name === 'end')
      ?.slice(0, 16)
      .replace('T', ' '),
  );
  const isFree = Boolean(start ?? end);
  // While the fields `From` and `To` select the period.
  const free = { value: '', label: start ? `${start} to ${end ?? 'now'}` : `Until ${end}` };
  const chosen = query['period'] === DEFAULT_PERIOD ? undefined : PERIODS.get(query['period'])?.label;
  useAppliedFilter('Period', isFree ? free.label : chosen, ['period', 'start', 'end']);
  return (
    <SelectField
      name="period"
      label="Period"
      options={isFree ? [free, ...PERIOD_OPTIONS] : PERIOD_OPTIONS}
      value={isFree ? free.value : PERIODS.has(query['period']) ? query['period'] : DEFAULT_PERIOD}
    />
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly SelectOption[];
}

/** A choice of a `FilterForm`. */
export function FilterChoice({ options, ...field }: ChoiceProps): VNode {
  const value = usePage().query[field.name];
  const isKnown = !value || options.some((option) => option.value === value);
  const others = isKnown ? [] : [{ value, label: value }];
  useAppliedFilter(field.label, options.find((option) => option.value === value)?.label ?? value, [
    field.name,
  ]);
  return (
    <SelectField
      {...field}
      options={[{ value: '', label: `${field.label}: all` }, ...options, ...others]}
      value={value}
    />
  );
}

interface ViewsProps {
  /** The parameter that selects one of them. */
  readonly name: string;
  /** The first one is the list without the parameter. */
  readonly views: readonly { readonly value: string; readonly label: string }[];
  /** The view that is shown without the parameter, if it is not the first one. */
  readonly current?: string;
}

/** Parts of a list, of which one is shown: a filter as links. */
export function Views({ name, views, current: usual = '' }: ViewsProps): VNode {
  const { path, query } = usePage();
  const current = query[name] ?? usual;
  return (
    <nav class="page-tabs" aria-label="Views">
      {views.map(({ value, label }) => (
        <a
          key={value}
          href={pathWith(path, query, { ...FIRST_PAGE, live: undefined, [name]: value })}
          aria-current={value === current ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

/** The filters that are applied, each with a link that removes it. It follows their fields on the page. */
export function FilterChips(): VNode | null {
  const { path, query, appliedFilters } = usePage();
  if (appliedFilters.length === 0) return null;
  return (
    <ul class="chips" aria-label="Applied filters">
      {appliedFilters.map(({ label, text, names, isInLine }) => {
        const without = Object.fromEntries(names.map((name) => [name, undefined]));
        return (
          <li key={label} class={isInLine ? 'in-line' : undefined}>
            <a class="chip" href={pathWith(path, query, { ...without, ...FIRST_PAGE })}>
              <span class="unseen">Remove the filter </span>
              <span>
                {`${label}: `}
                <Foreign text={text} />
              </span>
              <Icon name="x" />
            </a>
          </li>
        );
      })}
    </ul>
  );
}

interface ResultsProps {
  /** Whether the list may be updated live: the user turns it on. */
  readonly canBeLive?: boolean;
  /** Whether live updates are on unless the user turns them off. */
  readonly isLive?: boolean;
  readonly children: ComponentChildren;
}

/**
 * The results of a list. With live updates, a script loads the list again every 5 seconds while the page is visible, and changes
 * only what differs, so that users keep their focus, selection and place. Users start and stop them in the `FilterForm` (WCAG 2.2,
 * 2.2.2), and each update counts toward the user's request limit.
 */
export function Results({ canBeLive = false, isLive: isDefault = false, children }: ResultsProps): VNode {
  const page = usePage();
  const { path, query } = page;
  const isLive = canBeLive && isLiveNow(page, isDefault);
  const address = pathWith(path, query, {});
  const live = isLive
    ? {
        'hx-get': address,
        'hx-trigger': 'every 5s',
        'hx-select': `#${RESULTS}`,
        'hx-ext': 'morph',
        'hx-swap': 'morph',
      }
    : {};
  return (
    <div id={RESULTS} {...live}>
      {canBeLive ? (
        <p class="live needs-script">
          <span role="status" />
        </p>
      ) : null}
      {children}
    </div>
  );
}

/** A list whose entries open beside it, if the window is wide and scripts run. */
export const SplitView: FunctionComponent<{ readonly entriesPath?: string | undefined }> = (props) => {
  const { path } = usePage();
  const { entriesPath = path, children } = props;
  return (
    <div class="split" data-entries={entriesPath}>
      {children}
      <aside id="entry" aria-label="Selected entry" tabindex={-1} hidden>
        <div class="actions">
          <a class="open" href={path}>
            Open as a page
          </a>
          <button type="button" class="quiet close">
            Close
          </button>
        </div>
        <div id="entry-content" />
      </aside>
    </div>
  );
};

/** Returns a path with the parameters of a query and some changes to them; undefined removes a parameter. */
export function pathWith(
  path: string,
  query: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const parameters = Object.entries({ ...query, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '' && entry[0] !== 'done',
  );
  // Colons of times need no escape, and a page has dozens of them.
  const text = String(new URLSearchParams(parameters)).replaceAll('%3A', ':');
  return parameters.length === 0 ? path : `${path}?${text}`;
}

const PAGE_OF_USER = 'external-users';

/** Returns the path of the page about a user of the organization. */
export function pathOfUser(environment: PlatformEnvironment, user: string): string {
  return pathWith(dashboardPath(environment, PAGE_OF_USER), { external_user_id: user }, {});
}

/** Returns the page with all users of the organization, as the parent of those about one of them. */
export function allUsers(environment: PlatformEnvironment): Page['parent'] {
  const entry = entryThatCovers(PAGE_OF_USER);
  return entry && { title: entry.label, path: dashboardPath(environment, entry.path) };
}

interface VisitOfList {
  readonly environment: PlatformEnvironment;
  readonly query: Readonly<Record<string, unknown>>;
}

/**
 * Returns the heading of a list about one user: the identifier in the address, or else that of the list.
 *
 * @param about the content of the list, unless it is about a user
 */
export function headingOfUser(
  { environment, query }: VisitOfList,
  title: string,
  about: string,
): Pick<Page, 'title' | 'about' | 'parent'> {
  const user = query['external_user_id'];
  if (typeof user !== 'string' || user === '') return { title, about };
  return { title: isolated(user.slice(0, MAX_EXTERNAL_USER_ID_LENGTH)), parent: allUsers(environment) };
}

interface EraseButtonProps {
  readonly user: string;
  readonly permission: DashboardPermission;
}

/** Leads to the erasure of a user of the organization. All pages about one user have it at the same place. */
export function EraseButton({ user, permission }: EraseButtonProps): VNode {
  const path = dashboardPath(usePage().environment, PAGE_OF_USER, 'erase');
  return (
    <ButtonLink permission={permission} to={pathWith(path, { external_user_id: user }, {})} kind="danger">
      Erase
    </ButtonLink>
  );
}

/** Letters of other scripts, which browsers encode themselves: three times as long, for each row of a list. */
const ENCODED_LETTERS = /(?:%[89A-F][\dA-F])+/g;

/** A user of the organization, with a link to their page. A list has the whole identifier in the link only. */
export function UserLink({
  user,
  isWhole = false,
}: {
  readonly user: string;
  readonly isWhole?: boolean;
}): VNode {
  const path = pathOfUser(usePage().environment, user);
  return (
    <a href={path.replaceAll(ENCODED_LETTERS, (letters) => decodeURIComponent(letters))}>
      <Middle text={isWhole ? user : shortened(user)} />
    </a>
  );
}

/** Milliseconds. The request log shows at most 7 days. */
const AROUND_SESSION = 3 * DAY;

/**
 * A session, with a link to its entries in the request log.
 *
 * @param props.time about when it was used
 */
export function SessionLink({ id, time }: { readonly id: string; readonly time: Date }): VNode {
  const log = dashboardPath(usePage().environment, 'request-logs');
  const at = (distance: number): string => new Date(time.getTime() + distance).toISOString();
  const period = { start: at(-AROUND_SESSION), end: at(AROUND_SESSION) };
  return (
    <a href={pathWith(log, { session_id: id, ...period }, {})}>
      <Middle text={id} />
    </a>
  );
}

/** Asks for the user whose entries a list shows. */
export function UserField(): VNode {
  return (
    <TextField
      name="external_user_id"
      label="Customer"
      placeholder="The identifier in your system"
      value={usePage().query['external_user_id']}
    />
  );
}

interface PaginationProps {
  readonly nextCursor: string | null;
  /** The further changes in the address of the other pages: undefined removes a parameter. */
  readonly changes?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Without these parameters, an address is that of the first page. */
const FIRST_PAGE = { cursor: undefined, trail: undefined };

/** Separates the cursors of a trail. No cursor contains it. */
const TRAIL_SEPARATOR = '.';
/** Stands for the first page, which has no cursor. */
const TRAIL_START = 'first';
/** Characters. With a cursor and usual filters, the address is not too long to return to after a login. */
const MAX_TRAIL_LENGTH = 1_000;

/** Returns the parameters of the previous page, and of the trail of the next one. */
function trailOf(query: Readonly<Record<string, string>>): {
  readonly previous: Readonly<Record<string, string>> | null;
  readonly trail: string;
} {
  const { cursor = TRAIL_START } = query;
  const before = query['trail']?.split(TRAIL_SEPARATOR) ?? [];
  const last = before.at(-1);
  const previous = last && { cursor: last, trail: before.slice(0, -1).join(TRAIL_SEPARATOR) };
  return {
    previous: last === TRAIL_START ? {} : previous || null,
    trail: withoutOldest([...before, cursor].join(TRAIL_SEPARATOR)),
  };
}

/** Drops the cursors of the oldest pages from a trail that is too long. "Back to the first page" still leads beyond them. */
function withoutOldest(trail: string): string {
  if (trail.length <= MAX_TRAIL_LENGTH) return trail;
  const end = trail.slice(-MAX_TRAIL_LENGTH);
  return end.slice(end.indexOf(TRAIL_SEPARATOR) + 1);
}

/** Links to the next page of a list, to the previous one, and to the first one. */
export function Pagination({ nextCursor, changes = {} }: PaginationProps): VNode | null {
  const { path, query } = usePage();
  const isFirst = query['cursor'] === undefined;
  if (isFirst && nextCursor === null) return null;
  const pageAt = (position: Readonly<Record<string, string>>): string =>
    pathWith(path, query, { ...changes, ...FIRST_PAGE, live: undefined, ...position });
  const { previous, trail } = trailOf(query);
  return (
    <nav class="pagination" aria-label="Pages">
      {isFirst ? null : <a href={pathWith(path, query, FIRST_PAGE)}>Back to the first page</a>}
      {previous ? <a href={pageAt(previous)}>Previous page</a> : null}
      {nextCursor === null ? (
        <span>This is the last page.</span>
      ) : (
        <a href={pageAt({ cursor: nextCursor, trail })}>Next page</a>
      )}
    </nav>
  );
}
