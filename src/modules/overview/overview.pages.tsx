import { Controller, Get } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import { AccessibleClients } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  Allowed,
  Badge,
  BarChart,
  dashboardPath,
  FilterForm,
  FormProblem,
  FurtherFilters,
  inDigits,
  inMilliseconds,
  inPercent,
  LineChart,
  localTimeAt,
  Middle,
  Notice,
  offsetAt,
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
import { DAY } from '../../infrastructure/time/index.js';
import {
  MAX_PERIOD,
  OVERVIEW_PERIODS,
  OverviewQuery,
  RequestLogOverviewService,
  type RequestLogOverview,
  type Trend,
  type OverviewPeriod,
} from '../request-logs/index.js';
import {
  EndpointStatus,
  WebhookEndpointsService,
  type WebhookEndpointResponse,
} from '../webhook-endpoints/index.js';
import { PublishedEventsService } from '../webhooks/index.js';

const LISTENING = 'GET /development/webhooks/stream';

@Controller()
export class OverviewPages {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly environments: PageEnvironments,
    private readonly overviews: RequestLogOverviewService,
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: PublishedEventsService,
  ) {}

  @Get('dashboard')
  @PageRoute({ login: true })
  home(@Visit() { request }: PageVisit): PageResponse {
    return { redirectTo: dashboardPath(this.environments.of(request)) };
  }

  /** Shows the last 24 hours, the period that the query names, or that between two times. */
  @Get(inEachEnvironment())
  @DashboardPage('listRequestLogs')
  async overview(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, environment, query } = visit;
    const client = await this.clients.forEnvironment(actor, environment);
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    return submitted(
      async () => {
        const period = periodOf(query);
        const overview = await this.overviews.overview({ client, period });
        const trends = await this.overviews.trends({ client, period, targets: targetsIn(overview) });
        // The log has no entry for an event that a listener received.
        const { requests, deliveries } = overview;
        const hasListened =
          deliveries.total === 0 &&
          requests.operations.some(({ operation }) => operation === LISTENING) &&
          (await this.events.count(visit, { limit: 1 })) > 0;
        return overviewPage({ environment, endpoints, overview, trends, hasListened });
      },
      () => overviewPage({ environment, endpoints }),
    );
  }
}

function periodOf({ period, start, end, zone }: PageVisit['query']): OverviewPeriod | OverviewQuery {
  if (start || end) return queryFrom(OverviewQuery, { start, end, zone });
  return OVERVIEW_PERIODS.find((each) => each === period) ?? '24h';
}

interface OverviewProps {
  readonly environment: PlatformEnvironment;
  readonly overview: RequestLogOverview;
  readonly endpoints: readonly WebhookEndpointResponse[];
  /** Whether a program received events over a stream, as `mcs listen` does. */
  readonly hasListened?: boolean;
  /** By operation or ID of the endpoint; undefined if the request log is too busy. */
  readonly trends?: ReadonlyMap<string, Trend> | undefined;
}

/** @param props without an overview if the period was not accepted */
function overviewPage({
  overview,
  ...props
}: Omit<OverviewProps, 'overview'> & Partial<OverviewProps>): Page {
  return {
    title: 'Overview',
    content: (
      <>
        <FilterForm apply="Apply period" hasClear={false} canBeLive>
          <PeriodChoice />
          <FurtherFilters names={[]} label="From and to">
            <PeriodFields />
          </FurtherFilters>
        </FilterForm>
        <Results canBeLive>
          <FormProblem />
          {overview?.incompleteBefore ? (
            <Notice kind="bad">
              The older entries of the request log are still being counted, so these numbers are too low.
            </Notice>
          ) : null}
          <UnhealthyEndpoints {...props} />
          {overview ? (
            <>
              <Allowed operation="createWebhookEndpoint">
                <FirstSteps {...props} overview={overview} />
              </Allowed>
              <Requests {...props} overview={overview} />
              <Deliveries {...props} overview={overview} />
            </>
          ) : null}
        </Results>
      </>
    ),
  };
}

/** What to do until the first event has arrived. */
function FirstSteps({ environment, overview, endpoints, hasListened = false }: OverviewProps): VNode | null {
  const steps = [
    {
      isDone: overview.requests.total > 0,
      title: 'Make your first request',
      path: '/docs/quickstart',
      text: `with the credentials of the ${environment} client.`,
      more: { title: 'Client ID and secret', path: dashboardPath(environment, 'api-credentials') },
    },
    {
      isDone: endpoints.length > 0,
      title: 'Create a webhook endpoint',
      path: dashboardPath(environment, 'webhook-endpoints', 'new'),
      text: 'to receive events.',
    },
    {
      isDone: overview.deliveries.total > 0 || hasListened,
      title: 'Receive your first event',
      path: dashboardPath(environment, 'webhook-endpoints'),
      text: `with a test from the page of the endpoint${environment === 'development' ? ', or with mcs listen' : ''}.`,
    },
  ];
  if (steps.every(({ isDone }) => isDone) || (overview.requests.total > 0 && endpoints.length > 0))
    return null;
  return (
    <section class="card" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol class="steps">
        {steps.map(({ isDone, title, path, text, more }) => (
          <li key={title}>
            {isDone ? <Badge tone="good">Done</Badge> : <Badge tone="soft">To do</Badge>}{' '}
            <a href={path}>{title}</a> {text} {more ? <a href={more.path}>{more.title}</a> : null}
          </li>
        ))}
      </ol>
    </section>
  );
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

/** The address of failed entries in the request log. */
function failuresOf(environment: PlatformEnvironment, filters: Readonly<Record<string, string>>): string {
  return pathWith(dashboardPath(environment, 'request-logs'), { outcome: 'failure', ...filters }, {});
}

interface SectionProps {
  readonly title: string;
  /** What is counted, as the label of a number, and in a sentence. */
  readonly things: readonly [label: string, inSentence: string];
  readonly counts: RequestLogOverview['requests'] | RequestLogOverview['deliveries'];
  readonly medianLabel: string;
  readonly failuresPath: string;
  /** Charts and tables, unless there is nothing to show. */
  readonly children: ComponentChildren;
}

function Section({ title, things, counts, medianLabel, failuresPath, children }: SectionProps): VNode {
  const { total, failed, errorRate, p50, p95 } = counts;
  const failures = `${inDigits(failed)} (${inPercent(errorRate ?? 0)})`;
  return (
    <>
      <h2>{title}</h2>
      <Tiles
        entries={[
          [things[0], inDigits(total)],
          ['Failed', failed === 0 ? '0' : <a href={failuresPath}>{failures}</a>],
          [medianLabel, milliseconds(p50)],
          ['95th percentile', milliseconds(p95)],
        ]}
      />
      {total === 0 ? <p>{`There were no ${things[1]} in this period.`}</p> : children}
    </>
  );
}

function Requests({ environment, overview, trends }: OverviewProps): VNode {
  const { requests } = overview;
  const labels = labelsOf(requests.points, usePage().timeZone);
  const valuesOf = (key: 'status2xx' | 'status3xx' | 'status4xx' | 'status5xx'): number[] =>
    requests.points.map((point) => point[key]);
  return (
    <Section
      title="API requests"
      things={['Requests', 'requests']}
      counts={requests}
      medianLabel="Median latency"
      failuresPath={failuresOf(environment, { type: 'request', ...period(overview) })}
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
          series={[
            { label: 'Median', tone: 'soft', values: requests.points.map(({ p50 }) => p50) },
            { label: '95th percentile', tone: 'warn', values: requests.points.map(({ p95 }) => p95) },
          ]}
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
          },
          { title: 'Trend', kind: 'short', cell: ({ operation }) => trendOf(trends, operation, 'succeeded') },
          ...countColumns('Requests'),
        ]}
      />
    </Section>
  );
}

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

function countColumns(title: string): Column<{ readonly total: number; readonly failed: number }>[] {
  return [
    { title, kind: 'number', cell: ({ total }) => inDigits(total) },
    { title: 'Failed', kind: 'number', cell: ({ failed }) => inDigits(failed) },
  ];
}

function Deliveries({ environment, overview, endpoints, trends }: OverviewProps): VNode {
  const { deliveries } = overview;
  const { points } = deliveries;
  const urls = new Map(endpoints.map(({ id, url }) => [id, url]));
  return (
    <Section
      title="Webhook deliveries"
      things={['Attempts', 'delivery attempts']}
      counts={deliveries}
      medianLabel="Median response time"
      failuresPath={failuresOf(environment, { type: 'webhook', ...period(overview) })}
    >
      <div class="charts">
        <BarChart
          title="Attempts by outcome"
          pathOf={(index) => pointPath({ environment, type: 'webhook', overview, points, index })}
          labels={labelsOf(points, usePage().timeZone)}
          series={[
            {
              label: 'Delivered',
              tone: 'good',
              outcome: 'success',
              values: points.map(({ succeeded }) => succeeded),
            },
            {
              label: 'Not 200',
              tone: 'warn',
              outcome: 'failure',
              values: points.map(({ failed, noResponse }) => failed - noResponse),
            },
            {
              label: 'No response',
              tone: 'bad',
              outcome: 'failure',
              values: points.map(({ noResponse }) => noResponse),
            },
          ]}
        />
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
              cell: ({ endpointId }) => trendOf(trends, endpointId, 'delivered'),
            },
            ...countColumns('Attempts'),
          ]}
        />
      </div>
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

/**
 * Hours within a day, or days and hours within a longer period. An hour that is repeated when clocks go back is told apart by
 * its distance from UTC.
 */
function labelsOf(points: readonly { readonly start: Date }[], zone: string): string[] {
  const [first, last] = [points[0]?.start, points.at(-1)?.start];
  const isLong = first !== undefined && last !== undefined && last.getTime() - first.getTime() >= DAY;
  const labels = points.map(({ start }) => {
    const text = localTimeAt(start, zone);
    return isLong ? `${text.slice(5, 10)} ${text.slice(11, 16)}` : text.slice(11, 16);
  });
  return labels.map((label, index) => {
    const time = points[index]?.start;
    return time && labels.indexOf(label) < index ? `${label} ${offsetAt(time, zone)}` : label;
  });
}

const milliseconds = (value: number | null): string => (value === null ? 'None' : inMilliseconds(value));
