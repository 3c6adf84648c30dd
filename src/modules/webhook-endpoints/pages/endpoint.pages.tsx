import { permissionOf } from '../../../infrastructure/auth/index.js';
import type { VNode } from 'preact';
import { Controller, Get, Post } from '@nestjs/common';
import {
  ActionButton,
  Allowed,
  BarChart,
  ButtonLink,
  dashboardPath,
  Details,
  EmptyState,
  FormProblem,
  inMilliseconds,
  inPercent,
  labelsOf,
  Moment,
  Notice,
  pathWith,
  RelativeTime,
  Table,
  Tabs,
  Tiles,
  usePage,
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  requireUnchanged,
  submitted,
  Visit,
  type HistogramPoint,
  type Page,
  type PageResponse,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import { cookieOf, setCookie } from '../../../infrastructure/http/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import {
  RequestLogOverviewService,
  RequestLogsService,
  unlessBusy,
  type RequestLogEntryResponse,
} from '../../request-logs/index.js';
import type { KeysOverview } from '../endpoint-keys.js';
import { EndpointLanes } from '../endpoint-lanes.js';
import { EndpointSigningService } from '../endpoint-signing.service.js';
import { UpdateWebhookEndpointRequest, type WebhookEndpointResponse } from '../webhook-endpoints.dto.js';
import { WebhookEndpointsService } from '../webhook-endpoints.service.js';
import {
  AttemptResult,
  endpointList,
  endpointPath,
  EndpointStatus,
  EndpointPipe,
  pageOfEndpoint,
  type EndpointVisit,
} from './endpoint-parts.pages.js';
import { Signatures } from './endpoint-signing.pages.js';
import { isReceiverName, type ReceiverName } from './receiver-code.js';
import { ENDPOINT_PERMISSIONS } from '../webhook-endpoints.capability.js';

/** Events in the queue of the endpoint that are counted. */
const MAX_COUNTED = 1_000;
const SHOWN_ATTEMPTS = 5;
const LANGUAGE_COOKIE = 'receiver_language';
const LANGUAGE_LIFETIME = 365 * DAY;

@Controller(inEachEnvironment('webhook-endpoints/:id'))
export class EndpointPage {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly signing: EndpointSigningService,
    private readonly logs: RequestLogsService,
    private readonly overviews: RequestLogOverviewService,
    private readonly lanes: EndpointLanes,
    private readonly clock: Clock,
  ) {}

  @Get()
  @DashboardPage(ENDPOINT_PERMISSIONS.getWebhookEndpoint)
  async get(@Visit(EndpointPipe) visit: EndpointVisit): Promise<PageResponse> {
    const { actor, environment, endpoint: stored } = visit;
    const { id } = stored;
    const end = this.clock.now();
    const period = { start: new Date(end.getTime() - 7 * DAY).toISOString(), end: end.toISOString() };
    const attempts = { environment, endpoint_id: id, limit: SHOWN_ATTEMPTS, ...period };
    const [endpoint, page, failed, points, latency, waiting, keys] = await Promise.all([
      this.endpoints.get(actor, id),
      unlessBusy(this.logs.page(actor, attempts)),
      unlessBusy(this.logs.page(actor, { ...attempts, outcome: 'failure', limit: 1 })),
      this.overviews.histogram(stored.client, period, { type: 'webhook', target: id }),
      unlessBusy(this.logs.latencyOf(actor, stored.client, id)),
      this.lanes.waitingFor(id, MAX_COUNTED),
      this.signing.overviewOf(stored),
    ]);
    const health = { points, latency, lastFailure: failed?.data[0] };
    const reader = { receiver: this.receiverOf(visit), hasChosen: visit.query['language'] !== undefined };
    return endpointPage(endpoint, page?.data, health, waiting, { ...keys, ...reader });
  }

  /** Returns the language that the browser has chosen for code, and remembers the choice. */
  private receiverOf({ query, request, response }: EndpointVisit): ReceiverName {
    const { language: chosen } = query;
    if (isReceiverName(chosen))
      setCookie(response, LANGUAGE_COOKIE, chosen, new Date(this.clock.milliseconds() + LANGUAGE_LIFETIME));
    return [chosen, cookieOf(request, LANGUAGE_COOKIE)].find(isReceiverName) ?? 'typescript';
  }

  @Post('status')
  @DashboardAction(ENDPOINT_PERMISSIONS.updateWebhookEndpoint)
  setStatus(@Visit(EndpointPipe) visit: EndpointVisit): Promise<PageResponse> {
    const { actor, environment, endpoint, form } = visit;
    return submitted(
      async () => {
        const { status } = requestFrom(UpdateWebhookEndpointRequest, form);
        await this.endpoints.update(actor, endpoint.id, { status }, (current) =>
          requireUnchanged(form, statusOf(current)),
        );
        const done = status === 'paused' ? 'paused' : endpoint.disabledAt ? 'enabled' : 'resumed';
        return { redirectTo: `${endpointPath(environment, endpoint.id)}?done=${done}` };
      },
      () => this.get(visit),
    );
  }
}

const MESSAGES = {
  created: 'The endpoint was created. Send a test to check that your receiver responds.',
  saved: 'The changes were saved.',
  key_activated: 'From now on, the signature with the new key is the first one.',
  paused: 'Deliveries are paused.',
  resumed: 'Deliveries are resumed.',
  enabled:
    'The endpoint is enabled. Events that it missed while it was disabled are not sent by themselves: choose Recover events.',
};

/** The entries of the request log about the last 7 days; undefined as far as the log is too busy. */
interface EndpointActivity {
  readonly points: readonly HistogramPoint[] | undefined;
  /** Milliseconds within which 95 % of the newest attempts got a response; null without attempts. */
  readonly latency: number | null | undefined;
  readonly lastFailure: RequestLogEntryResponse | undefined;
}

/**
 * @param attempts the last ones, newest first; undefined if the request log is too busy
 * @param waiting the number of events in the queue
 */
function endpointPage(
  endpoint: WebhookEndpointResponse,
  attempts: readonly RequestLogEntryResponse[] | undefined,
  activity: EndpointActivity,
  waiting: number,
  keys: KeysOverview & { readonly receiver: ReceiverName; readonly hasChosen: boolean },
): Page {
  const { events, health, header_names: headers } = endpoint;
  const { last_success_at: lastSuccess } = health;
  return {
    title: pageOfEndpoint(endpoint.environment, endpoint).title,
    parent: endpointList(endpoint.environment),
    actions: actionsOf(endpoint),
    messages: MESSAGES,
    content: (
      <>
        <FormProblem />
        <p class="two-lines">
          <EndpointStatus endpoint={endpoint} /> {endpoint.description ? <code>{endpoint.url}</code> : null}
        </p>
        {situationOf(endpoint)}
        <Activity {...activity} endpoint={endpoint} />
        <Tabs
          tabs={[
            {
              title: 'Deliveries',
              content: (
                <div class="charts">
                  <AttemptsChart {...activity} endpoint={endpoint} />
                  <div>{deliveriesTo(endpoint, attempts)}</div>
                </div>
              ),
            },
            {
              title: 'Settings',
              content: (
                <Details
                  entries={[
                    ['Status', <EndpointStatus key="status" endpoint={endpoint} />],
                    ['Description', endpoint.description],
                    [
                      'Events',
                      events ? events.join(', ') : 'All events, including those that are added later',
                    ],
                    ['Last success', lastSuccess ? <Moment key="success" time={lastSuccess} /> : 'Never'],
                    ['Failures in a row', String(health.consecutive_failures)],
                    ['Events waiting', waiting >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(waiting)],
                    ['Own headers', headers.length > 0 ? headers.join(', ') : null],
                    ['URL', <code key="url">{endpoint.url}</code>],
                    ['Created', <Moment key="created" time={endpoint.created_at} />],
                    ['ID', <code key="id">{endpoint.id}</code>],
                  ]}
                />
              ),
            },
            {
              title: 'Signature',
              content: <Signatures endpoint={endpoint} keys={keys} receiver={keys.receiver} />,
            },
          ]}
          selected={keys.hasChosen ? 'Signature' : undefined}
        />
      </>
    ),
  };
}

type ActivityProps = EndpointActivity & { readonly endpoint: WebhookEndpointResponse };

/** Numbers of the last 7 days. Nothing, if there were no deliveries. */
function Activity(props: ActivityProps): VNode | null {
  const { endpoint, points = [], latency, lastFailure } = props;
  const { environment } = endpoint;
  const [succeeded, failed] = [
    points.reduce((total, each) => total + each.succeeded, 0),
    points.reduce((total, each) => total + each.failed, 0),
  ];
  if (succeeded + failed === 0) return null;
  return (
    <Tiles
      entries={[
        ['Success rate, 7 days', inPercent(succeeded / (succeeded + failed))],
        [
          '95% respond within',
          latency === null || latency === undefined ? 'Not known' : inMilliseconds(latency),
        ],
        [
          'Last failure',
          lastFailure ? (
            <a key="failure" href={dashboardPath(environment, 'request-logs', String(lastFailure.id))}>
              <RelativeTime time={lastFailure.datetime} />
            </a>
          ) : (
            'None in 7 days'
          ),
        ],
      ]}
    />
  );
}

/** The attempts of the last 7 days, with links to them. */
function AttemptsChart({ endpoint, points = [] }: ActivityProps): VNode | null {
  const { environment, id } = endpoint;
  const { timeZone } = usePage();
  if (points.every(({ succeeded, failed }) => succeeded + failed === 0)) return null;
  const log = dashboardPath(environment, 'request-logs');
  return (
    <BarChart
      title="Attempts, 7 days"
      labels={labelsOf(points, timeZone)}
      series={[
        {
          label: 'Delivered',
          tone: 'good',
          outcome: 'success',
          values: points.map((each) => each.succeeded),
        },
        { label: 'Failed', tone: 'bad', outcome: 'failure', values: points.map((each) => each.failed) },
      ]}
      pathOf={(index) => {
        const { start, end } = points[index] as HistogramPoint;
        const bounds = { start: start.toISOString(), end: end.toISOString() };
        return pathWith(log, { type: 'webhook', endpoint_id: id, ...bounds }, {});
      }}
    />
  );
}

const STATUS_BUTTONS = { enabled: 'Pause', paused: 'Resume', disabled: 'Enable' } as const;

/** The values that the button changes. */
const statusOf = ({ url, status }: WebhookEndpointResponse): ShownValues => ({ URL: url, Status: status });

function actionsOf(endpoint: WebhookEndpointResponse): VNode {
  const { id, environment, status } = endpoint;
  const path = endpointPath(environment, id);
  return (
    <>
      <ButtonLink permission={permissionOf('testWebhookEndpoint')} to={`${path}/test`}>
        Send test
      </ButtonLink>
      <Allowed permission={ENDPOINT_PERMISSIONS.updateWebhookEndpoint}>
        <ButtonLink to={`${path}/edit`} kind="second">
          Edit
        </ButtonLink>
        <ActionButton
          action={`${path}/status`}
          version={statusOf(endpoint)}
          fields={{ status: status === 'enabled' ? 'paused' : 'enabled' }}
        >
          {STATUS_BUTTONS[status]}
        </ActionButton>
      </Allowed>
      <ButtonLink to={`${path}/recover`} kind="second">
        <Allowed permission={permissionOf('recoverWebhooks')} otherwise="Last recovery">
          Recover events
        </Allowed>
      </ButtonLink>
      <ButtonLink permission={ENDPOINT_PERMISSIONS.deleteWebhookEndpoint} to={`${path}/delete`} kind="danger">
        Delete
      </ButtonLink>
    </>
  );
}

/** Explains a status that is not the usual one, and what to do. */
function situationOf({ status, health }: WebhookEndpointResponse): VNode | null {
  if (status === 'disabled')
    return (
      <Notice kind="bad">
        The service disabled this endpoint, because all deliveries failed for days. It gets no events. Fix
        your receiver, send a test, enable the endpoint, and then recover the events that it missed.
      </Notice>
    );
  if (status === 'paused')
    return (
      <p>
        This endpoint is paused. Events wait until you resume it, at most as long as the request log is kept.
      </p>
    );
  if (health.consecutive_failures > 0)
    return (
      <Notice kind="bad">
        {health.consecutive_failures === 1
          ? 'The last delivery failed. '
          : `The last ${health.consecutive_failures} deliveries failed. `}
        {health.throttled ? 'Until the next success, the service makes only one attempt per second. ' : null}
        See below why. The service retries waiting events automatically.
        <Allowed permission={permissionOf('recoverWebhooks')}>
          {' '}
          When your receiver works again, choose Recover events to send the events whose retries ran out.
        </Allowed>
      </Notice>
    );
  return null;
}

function deliveriesTo(
  { id, environment }: WebhookEndpointResponse,
  attempts: readonly RequestLogEntryResponse[] | undefined,
): VNode {
  const log = `${dashboardPath(environment, 'request-logs')}?type=webhook&endpoint_id=${id}&period=7d`;
  return (
    <>
      {attempts === undefined ? <p>The request log is busy. Reload the page to see the deliveries.</p> : null}
      {attempts?.length === 0 ? (
        <EmptyState title="No deliveries in the last 7 days">
          <p>Send a test to see how your receiver responds.</p>
        </EmptyState>
      ) : null}
      {attempts?.length ? (
        <Table
          caption="Recent deliveries"
          rows={attempts}
          keyOf={({ id: entry }) => entry}
          columns={[
            {
              title: 'Time',
              kind: 'time',
              cell: ({ id: entry, datetime }) => (
                <a href={dashboardPath(environment, 'request-logs', String(entry))}>
                  <Moment time={datetime} isInColumn />
                </a>
              ),
            },
            {
              title: 'Result',
              kind: 'status',
              cell: ({ status_code, reason }) => <AttemptResult statusCode={status_code} reason={reason} />,
            },
            {
              title: 'Event',
              kind: 'main',
              cell: ({ event, event_id: id }) => event ?? id,
              to: ({ event_id: id }) => dashboardPath(environment, 'events', String(id)),
            },
          ]}
        />
      ) : null}
      <p>
        <a href={`${log}&outcome=failure`}>Failed deliveries in the request log</a>
        {' · '}
        <a href={log}>All deliveries</a>
      </p>
    </>
  );
}
