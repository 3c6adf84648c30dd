import { Controller, Get } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import { AccessibleClients, mayPerform } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  BarChart,
  dashboardPath,
  FilterForm,
  FormProblem,
  FurtherFilters,
  inDigits,
  inMilliseconds,
  inPercent,
  inShortTime,
  LineChart,
  labelsOf,
  Middle,
  Notice,
  pathWith,
  PeriodChoice,
  PeriodFields,
  Results,
  Sparkline,
  Table,
  Tiles,
  usePage,
  DashboardPage,
  inEachEnvironment,
  PageEnvironments,
  PageRoute,
  queryFrom,
  submitted,
  Visit,
  type Column,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import {
  MAX_PERIOD,
  OVERVIEW_PERIODS,
  OverviewQuery,
  RequestLogOverviewService,
  type RequestLogOverview,
  type Trend,
  type OverviewPeriod,
  unlessBusy,
  REQUEST_LOG_PERMISSIONS,
} from '../request-logs/index.js';
import {
  EndpointStatus,
  WebhookEndpointsService,
  type WebhookEndpointResponse,
  ENDPOINT_PERMISSIONS,
} from '../webhook-endpoints/index.js';
import { FirstSteps, FirstStepsElsewhere } from './first-steps.pages.js';
import { FirstStepsService, type FirstStepsState } from './first-steps.service.js';

@Controller()
export class OverviewPage {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly environments: PageEnvironments,
    private readonly overviews: RequestLogOverviewService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly firstSteps: FirstStepsService,
  ) {}

  @Get('dashboard')
  @PageRoute({ login: true })
  home(@Visit() { request }: PageVisit): PageResponse {
    return { redirectTo: dashboardPath(this.environments.of(request)) };
  }

  /** Shows the last 24 hours, the period that the query names, or that between two times. */
  @Get(inEachEnvironment())
  @DashboardPage(REQUEST_LOG_PERMISSIONS.listRequestLogs)
  async overview(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, environment, query } = visit;
    const client = await this.clients.forEnvironment(actor, environment);
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    return submitted(
      async () => {
        const period = periodOf(query);
        const overview = await this.overviews.overview({ client, period });
        const before = await unlessBusy(this.overviews.overview({ client, period: periodBefore(overview) }));
        const trends = await this.overviews.trends({ client, period, targets: targetsIn(overview) });
        const mayBegin = mayPerform(actor, ENDPOINT_PERMISSIONS.createWebhookEndpoint);
        const firstSteps =
          mayBegin && environment === 'development'
            ? await this.firstSteps.find(visit, client, overview, endpoints.length > 0)
            : undefined;
        const isUnused =
          mayBegin && environment === 'production' && (await this.firstSteps.isUnused(visit, overview));
        return overviewPage({ environment, endpoints, overview, before, trends, firstSteps, isUnused });
      },
      () => overviewPage({ environment, endpoints }),
    );
  }
}

function periodOf({ period, start, end, zone }: PageVisit['query']): OverviewPeriod | OverviewQuery {
  if (start || end) return queryFrom(OverviewQuery, { start, end, zone });
  return OVERVIEW_PERIODS.find((each) => each === period) ?? '24h';
}

/** The period of the same length that ends where the overview starts. */
function periodBefore({ start, end }: RequestLogOverview): OverviewQuery {
  const length = end.getTime() - start.getTime();
  return queryFrom(OverviewQuery, {
    start: new Date(start.getTime() - Math.min(length, MAX_PERIOD)).toISOString(),
    end: start.toISOString(),
  });
}

interface OverviewProps {
  readonly environment: PlatformEnvironment;
  readonly overview: RequestLogOverview;
  /** The overview of the period before; undefined if the request log is too busy. */
  readonly before?: RequestLogOverview | undefined;
  readonly endpoints: readonly WebhookEndpointResponse[];
  /** Undefined once all are done. */
  readonly firstSteps?: FirstStepsState | undefined;
  /** Whether nothing was ever sent in the production environment. */
  readonly isUnused?: boolean;
  /** By operation or ID of the endpoint; undefined if the request log is too busy. */
  readonly trends?: ReadonlyMap<string, Trend> | undefined;
}

/** @param props without an overview if the period was not accepted */
function overviewPage({
  overview,
  ...props
}: Omit<OverviewProps, 'overview'> & Partial<OverviewProps>): Page {
  // The steps are ticked while the user does them elsewhere.
  const isLive = props.firstSteps !== undefined;
  return {
    title: 'Overview',
    content: (
      <>
        <FilterForm apply="Apply period" hasClear={false} canBeLive isLive={isLive}>
          <PeriodChoice />
          <FurtherFilters names={[]} label="From and to">
            <PeriodFields />
          </FurtherFilters>
        </FilterForm>
        <Results canBeLive isLive={isLive}>
          <FormProblem />
          {overview?.incompleteBefore ? (
            <Notice kind="bad">
              The older entries of the request log are still being counted, so these numbers are too low.
            </Notice>
          ) : null}
          <UnhealthyEndpoints {...props} />
          {overview ? (
            <>
              {props.firstSteps ? <FirstSteps {...props.firstSteps} /> : null}
              {props.isUnused ? <FirstStepsElsewhere /> : null}
              <Requests {...props} overview={overview} />
              <Deliveries {...props} overview={overview} />
            </>
          ) : null}
        </Results>
      </>
    ),
  };
}

function UnhealthyEndpoints({ environment, endpoints }: Omit<OverviewProps, 'overview'>): VNode | null {
  const unhealthy = endpoints.filter(
    ({ status, health }) => status === 'disabled' || health.throttled || health.consecutive_failures > 0,
  );
  if (unhealthy.length === 0) return null;
  return (
    <>
      <h2>Endpoints that need attention</h2>
      <Table
        caption="Endpoints that need attention"
        rows={unhealthy}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'URL',
            kind: 'main',
            cell: ({ id, url }) => (
              <a href={dashboardPath(environment, 'webhook-endpoints', id)}>
                <Middle text={url} />
              </a>
            ),
          },
          {
            title: 'Problem',
            kind: 'main',
            cell: (endpoint) => (
              <>
                <EndpointStatus endpoint={endpoint} />{' '}
                {`${endpoint.health.consecutive_failures} failed ${endpoint.health.consecutive_failures === 1 ? 'attempt' : 'attempts'} in a row`}
              </>
            ),
          },
          {
            title: 'Why',
            kind: 'id',
            cell: ({ id }) => (
              <a href={failuresOf(environment, { endpoint_id: id, period: '7d' })}>Failed attempts</a>
            ),
          },
        ]}
      />
    </>
  );
}

type LogFilters = Readonly<Record<string, string>>;

/** The address of entries in the request log. */
function entriesOf(environment: PlatformEnvironment, filters: LogFilters): string {
  return pathWith(dashboardPath(environment, 'request-logs'), filters, {});
}

/** The address of failed entries in the request log. */
function failuresOf(environment: PlatformEnvironment, filters: LogFilters): string {
  return entriesOf(environment, { outcome: 'failure', ...filters });
}

type SectionCounts = RequestLogOverview['requests'] | RequestLogOverview['deliveries'];

interface SectionProps {
  readonly title: string;
  /** The things that are counted: as the label of a number, and in a sentence. */
  readonly things: readonly [label: string, inSentence: string];
  readonly counts: SectionCounts;
  readonly before: SectionCounts | undefined;
  readonly medianLabel: string;
  readonly environment: PlatformEnvironment;
  /** The filters of the counted entries. */
  readonly filters: LogFilters;
  /** Charts and tables, unless there is nothing to show. */
  readonly children: ComponentChildren;
}

function Section(props: SectionProps): VNode {
  const { title, things, counts, medianLabel, environment, filters, children } = props;
  const { total, failed, p50, p95 } = counts;
  // Two periods without anything need no comparison.
  const before = total === 0 && props.before?.total === 0 ? undefined : props.before;
  return (
    <>
      <h2>{title}</h2>
      <Tiles
        entries={[
          [
            things[0],
            <Compared key="total" before={before && inDigits(before.total)}>
              {total === 0 ? '0' : <a href={entriesOf(environment, filters)}>{inDigits(total)}</a>}
            </Compared>,
          ],
          [
            'Failed',
            <Compared key="failed" before={before && failuresIn(before)}>
              {failed === 0 ? '0' : <a href={failuresOf(environment, filters)}>{failuresIn(counts)}</a>}
            </Compared>,
          ],
          [
            medianLabel,
            <Compared key="p50" before={before && milliseconds(before.p50)}>
              {milliseconds(p50)}
            </Compared>,
          ],
          [
            '95th percentile',
            <Compared key="p95" before={before && milliseconds(before.p95)}>
              {milliseconds(p95)}
            </Compared>,
          ],
        ]}
      />
      {total === 0 ? <p>{`There were no ${things[1]} in this period.`}</p> : children}
    </>
  );
}

function failuresIn({ failed, errorRate }: SectionCounts): string {
  return failed === 0 ? '0' : `${inDigits(failed)} (${inPercent(errorRate ?? 0)})`;
}

interface ComparedProps {
  /** The value of the period before. */
  readonly before: string | undefined;
  readonly children: ComponentChildren;
}

function Compared({ before, children }: ComparedProps): VNode {
  return (
    <>
      {children}
      {before === undefined ? null : ' '}
      {before === undefined ? null : <span class="hint">{`${before} before`}</span>}
    </>
  );
}

function Requests({ environment, overview, before, trends }: OverviewProps): VNode {
  const { requests } = overview;
  const filters = { type: 'request', ...period(overview) };
  const entriesIn = ({ operation }: OperationCounts): EntriesOfRow | undefined =>
    operation === null ? undefined : { environment, filters: { ...filters, operation } };
  const labels = labelsOf(requests.points, usePage().timeZone);
  const valuesOf = (key: 'status2xx' | 'status3xx' | 'status4xx' | 'status5xx'): number[] =>
    requests.points.map((point) => point[key]);
  return (
    <Section
      title="API requests"
      things={['Requests', 'requests']}
      counts={requests}
      medianLabel="Median latency"
      before={before?.requests}
      environment={environment}
      filters={filters}
    >
      <div class="charts">
        <BarChart
          title="Requests by status"
          labels={labels}
          pathOf={(index) =>
            pointPath({ environment, type: 'request', overview, points: requests.points, index })
          }
          series={[
            { label: '2xx', tone: 'good', outcome: 'success', values: valuesOf('status2xx') },
            { label: '3xx', tone: 'soft', outcome: 'success', values: valuesOf('status3xx') },
            { label: '4xx', tone: 'warn', outcome: 'failure', values: valuesOf('status4xx') },
            { label: '5xx', tone: 'bad', outcome: 'failure', values: valuesOf('status5xx') },
          ]}
        />
        <LineChart
          title="Latency"
          labels={labels}
          format={inMilliseconds}
          formatTick={inShortTime}
          series={latenciesOf(requests.points)}
        />
      </div>
      <Table
        caption="Requests by operation"
        rows={requests.operations.slice(0, MAX_ROWS)}
        keyOf={({ operation }) => operation ?? ''}
        columns={[
          {
            title: 'Operation',
            kind: 'main',
            cell: ({ operation }) => (
              <code>
                <Middle text={operation ?? 'other'} />
              </code>
            ),
            to: (row) => pathOfRow(entriesIn(row)),
          },
          {
            title: 'Trend',
            kind: 'short',
            isOnDeskOnly: true,
            cell: ({ operation }) => trendOf(trends, operation, 'succeeded'),
          },
          ...countColumns('Requests', entriesIn),
        ]}
      />
    </Section>
  );
}

type LatencyPoint = RequestLogOverview['requests']['points'][number];

const latenciesOf = (points: readonly LatencyPoint[]) =>
  [
    { label: 'Median', tone: 'soft', values: points.map(({ p50 }) => p50) },
    { label: '95th percentile', tone: 'warn', values: points.map(({ p95 }) => p95) },
  ] as const;

const MAX_ROWS = 10;

/** The operations and the endpoints that the page lists. */
function targetsIn({ requests, deliveries }: RequestLogOverview): string[] {
  return [
    ...requests.operations.slice(0, MAX_ROWS).map(({ operation }) => operation),
    ...deliveries.endpoints.slice(0, MAX_ROWS).map(({ endpointId }) => endpointId),
  ].filter((target) => target !== null);
}

function trendOf(trends: OverviewProps['trends'], target: string | null, verb: string): ComponentChildren {
  const trend = target === null ? undefined : trends?.get(target);
  return trend ? <Sparkline {...trend} things={[verb, 'this period']} /> : 'Not available';
}

interface Counted {
  readonly total: number;
  readonly failed: number;
}

type OperationCounts = RequestLogOverview['requests']['operations'][number];

/** The entries that a row counts. */
type EntriesOfRow = Pick<SectionProps, 'environment' | 'filters'>;

/** Returns the address of the entries in the request log. */
function pathOfRow(entries: EntriesOfRow | undefined, filters: LogFilters = {}): string | undefined {
  return entries && entriesOf(entries.environment, { ...filters, ...entries.filters });
}

/** @param entriesIn returns which entries a row counts; undefined if the request log cannot show them alone */
function countColumns<Row extends Counted>(
  title: string,
  entriesIn: (row: Row) => EntriesOfRow | undefined,
): Column<Row>[] {
  const linked = (count: number, path: string | undefined): ComponentChildren =>
    count === 0 || path === undefined ? inDigits(count) : <a href={path}>{inDigits(count)}</a>;
  return [
    { title, kind: 'number', cell: (row) => linked(row.total, pathOfRow(entriesIn(row))) },
    {
      title: 'Failed',
      kind: 'number',
      cell: (row) => linked(row.failed, pathOfRow(entriesIn(row), { outcome: 'failure' })),
    },
  ];
}

function Deliveries({ environment, overview, before, endpoints, trends }: OverviewProps): VNode {
  const { deliveries } = overview;
  const filters = { type: 'webhook', ...period(overview) };
  const { points } = deliveries;
  const labels = labelsOf(points, usePage().timeZone);
  const urls = new Map(endpoints.map(({ id, url }) => [id, url]));
  return (
    <Section
      title="Webhook deliveries"
      things={['Attempts', 'delivery attempts']}
      counts={deliveries}
      medianLabel="Median response time"
      before={before?.deliveries}
      environment={environment}
      filters={filters}
    >
      <div class="charts">
        <BarChart
          title="Attempts by outcome"
          pathOf={(index) => pointPath({ environment, type: 'webhook', overview, points, index })}
          labels={labels}
          series={[
            {
              label: 'Delivered',
              tone: 'good',
              outcome: 'success',
              values: points.map(({ succeeded }) => succeeded),
            },
            { label: 'Failed', tone: 'bad', outcome: 'failure', values: points.map(({ failed }) => failed) },
          ]}
        />
        <LineChart
          title="Response time"
          labels={labels}
          format={inMilliseconds}
          formatTick={inShortTime}
          series={latenciesOf(points)}
        />
      </div>
      <Table
        caption="Attempts by endpoint"
        rows={deliveries.endpoints.slice(0, MAX_ROWS)}
        keyOf={({ endpointId }) => endpointId ?? ''}
        columns={[
          {
            title: 'Endpoint',
            kind: 'main',
            cell: ({ endpointId }) =>
              endpointId !== null && urls.has(endpointId) ? (
                <a href={dashboardPath(environment, 'webhook-endpoints', endpointId)}>
                  <Middle text={urls.get(endpointId) ?? ''} />
                </a>
              ) : (
                'a deleted endpoint'
              ),
          },
          {
            title: 'Trend',
            kind: 'short',
            isOnDeskOnly: true,
            cell: ({ endpointId }) => trendOf(trends, endpointId, 'delivered'),
          },
          ...countColumns<(typeof deliveries.endpoints)[number]>('Attempts', ({ endpointId }) =>
            endpointId === null
              ? undefined
              : { environment, filters: { ...filters, endpoint_id: endpointId } },
          ),
        ]}
      />
    </Section>
  );
}

interface PointProps {
  readonly environment: PlatformEnvironment;
  readonly type: 'request' | 'webhook';
  readonly overview: RequestLogOverview;
  readonly points: readonly { readonly start: Date; readonly failed: number; readonly total: number }[];
  readonly index: number;
}

/** Returns the address of the entries of a point in the request log; of the failed ones, if all have failed. */
function pointPath({ environment, type, overview, points, index }: PointProps): string {
  const point = points[index];
  if (!point) throw new RangeError(`There is no point ${index}`);
  const next = points[index + 1]?.start ?? overview.end;
  const outcome = point.failed === point.total ? 'failure' : undefined;
  const bounds = {
    start: minute(point.start),
    end: next === overview.end ? next.toISOString() : minute(next),
  };
  return pathWith(dashboardPath(environment, 'request-logs'), { type, ...bounds }, { outcome });
}

/** Returns a time that is a whole minute, as a page of the log also accepts it. */
function minute(time: Date): string {
  return time.toISOString().slice(0, 16);
}

/** The overview begins with a whole hour, so it can be longer than what the list shows at once. */
function period({ start, end }: RequestLogOverview): Readonly<Record<'start' | 'end', string>> {
  const shown = new Date(Math.max(start.getTime(), end.getTime() - MAX_PERIOD));
  return { start: shown.toISOString(), end: end.toISOString() };
}

const milliseconds = (value: number | null): string => (value === null ? 'None' : inMilliseconds(value));
