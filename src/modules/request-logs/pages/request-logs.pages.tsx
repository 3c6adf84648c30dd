import { permissionOf } from '../../../infrastructure/auth/index.js';
import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  Checkboxes,
  dashboardPath,
  Exports,
  Filter,
  FilterChoice,
  Form,
  FurtherFilters,
  Histogram,
  inDigits,
  inMilliseconds,
  pathWith,
  PeriodChoice,
  PeriodFields,
  ToolLink,
  usePage,
  UserLink,
  type Column,
  type HistogramPoint,
  type ListDescription,
  type ListResult,
  type Page,
  type PageVisit,
  Moment,
} from '../../../infrastructure/pages/index.js';
import { MAX_PERIOD } from '../request-log-period.js';
import type { RequestLogEntryResponse, RequestLogPageQuery } from '../request-logs.dto.js';
import { REQUEST_LOG_FILTERS } from '../storage/request-log-filter.js';
import { deliveryFailure } from './delivery-failures.js';
import { REQUEST_LOG_PERMISSIONS } from '../request-logs.capability.js';

const COLUMNS = {
  type: {
    title: 'Type',
    kind: 'short',
    cell: ({ type }) => (type === 'webhook' ? 'Delivery' : 'API request'),
  },
  latency: { title: 'Latency', kind: 'number', cell: ({ latency_ms }) => inMilliseconds(latency_ms) },
  user: {
    title: 'Customer',
    kind: 'user',
    cell: ({ external_user_id: user }) => (user === null ? null : <UserLink user={user} />),
  },
  session: { title: 'Session ID', kind: 'id', cell: ({ session_id }) => session_id },
  task: { title: 'Task ID', kind: 'id', cell: ({ task_id }) => task_id },
  endpoint: { title: 'Endpoint ID', kind: 'id', cell: ({ endpoint_id }) => endpoint_id },
  event_id: { title: 'Event ID', kind: 'id', cell: ({ event_id }) => event_id },
} as const satisfies Readonly<Record<string, Column<RequestLogEntryResponse>>>;

/** The columns of the list that users can choose, besides those that it always has. */
export type OptionalColumn = keyof typeof COLUMNS;
export const OPTIONAL_COLUMNS = Object.keys(COLUMNS) as readonly OptionalColumn[];

export const MAX_EXPORTED_ENTRIES = 10_000;

export interface FoundEntries {
  readonly query: RequestLogPageQuery;
  readonly entries: readonly RequestLogEntryResponse[];
  readonly nextCursor: string | null;
  /** The time of the environment's newest entry, if the list is empty and there is one. */
  readonly newestTime: Date | undefined;
  /** The points of the histogram; undefined if the filters do not allow one. */
  readonly points: readonly HistogramPoint[] | undefined;
}

export interface FilterOption {
  readonly value: string;
  readonly label: string;
}

export interface FilterChoices {
  readonly endpoints: readonly FilterOption[];
  readonly events: readonly FilterOption[];
}

const TYPES = [
  { value: 'request', label: 'API requests' },
  { value: 'webhook', label: 'Deliveries' },
];
const OUTCOMES = [
  { value: 'success', label: 'Succeeded' },
  { value: 'failure', label: 'Failed' },
];
const LONGEST_PERIOD = '7d';
/** The fields of the filters that most users need rarely. */
const FURTHER_FIELDS = Object.entries(REQUEST_LOG_FILTERS).flatMap(([name, definition]) =>
  'field' in definition ? [{ name, ...definition.field }] : [],
);
const FURTHER_FILTERS = ['start', 'end', ...FURTHER_FIELDS.map(({ name }) => name)];

/** Describes the list, apart from what it finds. */
export function requestLogList(
  { environment, query }: PageVisit,
  columns: readonly OptionalColumn[],
  { endpoints, events }: FilterChoices,
): Omit<ListDescription<RequestLogEntryResponse, RequestLogPageQuery>, 'rows'> {
  return {
    title: 'Request logs',
    filters: (
      <>
        <PeriodChoice />
        <FilterChoice name="type" label="Type" options={TYPES} />
        <FilterChoice name="outcome" label="Outcome" options={OUTCOMES} />
        <FilterChoice name="endpoint_id" label="Endpoint" options={endpoints} />
        <FilterChoice name="event" label="Event" options={events} />
        <FurtherFilters names={FURTHER_FILTERS}>
          <PeriodFields />
          {FURTHER_FIELDS.map((field) => (
            <Filter key={field.name} {...field} />
          ))}
        </FurtherFilters>
      </>
    ),
    canBeLive: query['cursor'] === undefined,
    isSplit: true,
    isDense: true,
    caption: 'Request log entries, newest first',
    columns: [...entryColumns(environment), ...columns.map((name) => COLUMNS[name])],
    empty: NO_ENTRIES_YET,
  };
}

/** Returns the columns of every list of entries. */
export function entryColumns(environment: PlatformEnvironment): readonly Column<RequestLogEntryResponse>[] {
  return [
    { title: 'Time', kind: 'clock', cell: ({ datetime }) => datetime },
    {
      title: 'Request',
      kind: 'main',
      cell: nameOf,
      to: ({ id }) => dashboardPath(environment, 'request-logs', String(id)),
    },
    { title: 'Status', kind: 'status', cell: (entry) => <EntryStatus entry={entry} /> },
  ];
}

/** Returns the entries, with what can be done with them. */
export function foundEntries(
  { environment, query: parameters }: PageVisit,
  { query, entries, nextCursor, newestTime, points }: FoundEntries,
): ListResult<RequestLogEntryResponse> {
  const path = dashboardPath(environment, 'request-logs');
  return {
    data: entries,
    next_cursor: nextCursor,
    above: points && <Histogram points={points} things={['entry', 'entries']} />,
    tools: <Tools path={path} query={query} entries={entries} />,
    selection: {
      permission: REQUEST_LOG_PERMISSIONS.redeliverWebhook,
      action: sendAgainPath(environment),
      label: 'Send again',
      things: ['delivery', 'deliveries'],
      selectable,
    },
    // A relative period ends at another time on each request, so the pages that follow need its bounds.
    changes:
      parameters['period'] === undefined ? {} : { period: undefined, start: query.start, end: query.end },
    empty:
      newestTime === undefined && parameters['cursor'] === undefined
        ? undefined
        : noEntries(parameters, newestTime),
  };
}

interface ToolsProps extends Pick<FoundEntries, 'query' | 'entries'> {
  readonly path: string;
}

function Tools({ path, query, entries }: ToolsProps): VNode {
  return (
    <>
      {entries.some(isFailedDelivery) ? <SendAllAgain query={query} /> : null}
      <ToolLink
        icon="columns-3"
        label="Choose columns"
        to={pathWith(`${path}/columns/choose`, usePage().query, { live: undefined })}
      />
      {entries.length > 0 ? (
        <Exports path={`${path}/export`} hint={`The newest ${inDigits(MAX_EXPORTED_ENTRIES)} entries.`} />
      ) : null}
    </>
  );
}

function SendAllAgain({ query: { start, end } }: Pick<FoundEntries, 'query'>): VNode {
  const { environment, query } = usePage();
  const filters = Object.fromEntries(
    Object.keys(REQUEST_LOG_FILTERS).map((name) => [name, query[name] ?? '']),
  );
  return (
    <Allowed permission={REQUEST_LOG_PERMISSIONS.redeliverWebhook}>
      <a href={pathWith(sendAgainPath(environment), filters, { type: undefined, start, end })}>
        Send all failed again
      </a>
    </Allowed>
  );
}

function sendAgainPath(environment: PlatformEnvironment): string {
  return dashboardPath(environment, 'events', 'failed', 'send-again');
}

function isFailedDelivery({ type, reason, event_id, endpoint_id }: RequestLogEntryResponse): boolean {
  return type === 'webhook' && reason !== null && event_id !== null && endpoint_id !== null;
}

/** A failed delivery can be sent again. */
function selectable(entry: RequestLogEntryResponse) {
  const { event, event_id, endpoint_id } = entry;
  return isFailedDelivery(entry)
    ? { value: `${event_id}.${endpoint_id?.slice(0, 8)}`, of: String(event) }
    : undefined;
}

/** Returns what was requested: the method and path, with the tool of an agent; or the event and the host of the endpoint. */
export function nameOf({ method, path, tool, event, url }: RequestLogEntryResponse): string {
  if (path === null) return `${event} to ${hostOf(url)}`;
  return tool === null ? `${method} ${path}` : `${method} ${path} ${tool}`;
}

/** Returns the host and port of a URL in an entry. The URL may be cut off or missing. */
export function hostOf(url: string | null): string {
  return url?.replace(/^https?:\/\//i, '').replace(/[/?#].*$/s, '') ?? 'an endpoint';
}

/** The status code of an entry. Colors and words say whether it counts as a success, and why not. */
export function EntryStatus({ entry }: { readonly entry: RequestLogEntryResponse }): VNode {
  const { type, status_code, reason, error_code } = entry;
  if (status_code === 0)
    return <Badge tone="bad">{reason === null ? 'No response' : deliveryFailure(reason).title}</Badge>;
  const hasFailed = type === 'webhook' ? status_code !== 200 : status_code >= 400;
  if (!hasFailed) return <Badge tone="good">{status_code}</Badge>;
  const isRejected = type === 'request' && status_code < 500;
  const why = error_code ?? (isRejected ? 'rejected' : 'failed');
  return (
    <>
      <Badge tone={isRejected ? 'warn' : 'bad'}>{status_code}</Badge> <span class="soft">{why}</span>
    </>
  );
}

/** Parameters that select the period, and those that do not filter. */
const NO_FILTERS = new Set(['period', 'start', 'end', 'cursor', 'trail', 'live', 'done', 'zone']);

function noEntries(parameters: PageVisit['query'], newestTime: Date | undefined) {
  const isFiltered = Object.keys(parameters).some((name) => !NO_FILTERS.has(name) && parameters[name] !== '');
  return {
    title: isFiltered ? 'No entries match these filters' : 'No entries in this period',
    text: <OtherEntries isFiltered={isFiltered} newestTime={newestTime} />,
  };
}

interface OtherEntriesProps {
  readonly isFiltered: boolean;
  readonly newestTime: Date | undefined;
}

function OtherEntries({ isFiltered, newestTime }: OtherEntriesProps): VNode {
  const { path, query, now } = usePage();
  const isLongest = query['period'] === LONGEST_PERIOD;
  const isRecent = newestTime !== undefined && now.getTime() - newestTime.getTime() < MAX_PERIOD;
  const withPeriod = (bounds: Readonly<Record<string, string>>): string =>
    pathWith(path, query, {
      live: undefined,
      period: undefined,
      start: undefined,
      end: undefined,
      ...bounds,
    });
  return (
    <>
      {newestTime && !isFiltered ? (
        <p>
          The newest entry of this environment is from <Moment time={newestTime} />.
        </p>
      ) : null}
      <div class="actions">
        {isFiltered ? (
          <ButtonLink to={pathWith(path, {}, { period: query['period'] ?? '' })}>Clear filters</ButtonLink>
        ) : null}
        {isLongest || !isRecent ? null : (
          <ButtonLink to={withPeriod({ period: LONGEST_PERIOD })} kind="second">
            Show the last 7 days
          </ButtonLink>
        )}
        {newestTime && !isRecent ? (
          <ButtonLink to={withPeriod({ end: newestTime.toISOString() })} kind="second">
            Show the newest entries
          </ButtonLink>
        ) : null}
      </div>
    </>
  );
}

const NO_ENTRIES_YET = {
  title: 'No requests yet',
  text: (
    <>
      <p>
        Requests of your programs appear here, and attempts to deliver webhooks to your endpoints. Send a
        first request with the API credentials of this environment.
      </p>
      <FirstRequest />
    </>
  ),
};

function FirstRequest(): VNode {
  return (
    <div class="actions">
      <ButtonLink
        permission={permissionOf('listApiClients')}
        to={dashboardPath(usePage().environment, 'api-credentials')}
      >
        Show API credentials
      </ButtonLink>
      <ButtonLink to="/docs/quickstart" kind="second">
        Read the quickstart
      </ButtonLink>
    </div>
  );
}

export function columnsPage(environment: PlatformEnvironment, columns: readonly OptionalColumn[]): Page {
  const path = dashboardPath(environment, 'request-logs');
  return {
    title: 'Choose columns',
    parent: { title: 'Request logs', path },
    content: <ColumnsForm path={path} columns={columns} />,
  };
}

function ColumnsForm(props: { readonly path: string; readonly columns: readonly string[] }): VNode {
  const { path, columns } = props;
  const { query } = usePage();
  return (
    <Form action={`${path}/columns/choose`}>
      <p>This browser remembers the columns, for both environments.</p>
      <input type="hidden" name="filters" value={String(new URLSearchParams(query))} />
      <Checkboxes
        name="columns[]"
        legend="Columns besides time, request and status"
        options={OPTIONAL_COLUMNS.map((value) => ({ value, label: COLUMNS[value].title }))}
        values={columns}
      />
      <div class="actions">
        <button>Save columns</button>
        <a class="button second" href={pathWith(path, query, {})}>
          Cancel
        </a>
      </div>
    </Form>
  );
}
