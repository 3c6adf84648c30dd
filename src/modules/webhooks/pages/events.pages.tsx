import type { ComponentChildren, VNode } from 'preact';
import { Controller, Get, Inject, Post } from '@nestjs/common';
import { AccessibleClients } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  ActionButton,
  Allowed,
  Badge,
  ClockTime,
  CodeBlock,
  dashboardPath,
  Details,
  EmptyState,
  Filter,
  FilterChoice,
  FormProblem,
  FurtherFilters,
  Histogram,
  inDigits,
  inMilliseconds,
  Link,
  ListPage,
  Middle,
  Moment,
  pathWith,
  PeriodFields,
  RelativeTime,
  Results,
  Table,
  Timeline,
  usePage,
  UserLink,
  Views,
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  submitted,
  Visit,
  requireUnchanged,
  type HistogramPoint,
  type ListDescription,
  type Page,
  type PageResponse,
  type PageVisit,
  type Tone,
} from '../../../infrastructure/pages/index.js';
import {
  addressOf,
  hostOf,
  MAX_PERIOD_DAYS,
  periodSince,
  REQUEST_LOG_PERMISSIONS,
  RequestLogOverviewService,
  type OverviewQuery,
  type RequestLogEntry,
} from '../../request-logs/index.js';
import {
  AttemptResult,
  endpointPath,
  WebhookEndpointsService,
  type WebhookEndpointResponse,
} from '../../webhook-endpoints/index.js';
import type { ListedEvent } from '../events/published-events.repository.js';
import { ListEventsQuery, type DeliveryState } from '../events/published-events.dto.js';
import {
  PublishedEventsService,
  MAX_COUNTED,
  type EventDelivery,
  type ListedDelivery,
  type TracedEvent,
} from '../events/published-events.service.js';
import { RedeliverRequest } from '../deliveries.dto.js';
import { RedeliveriesService } from '../resends/redeliveries.service.js';
import { DELIVERY_PERMISSIONS } from '../webhooks.capability.js';
import { FROM_EVENTS, resendPath } from './resend.pages.js';

@Controller(inEachEnvironment('events'))
export class EventsPage extends ListPage(REQUEST_LOG_PERMISSIONS.listRequestLogs, ListEventsQuery) {
  @Inject() private readonly events!: PublishedEventsService;
  @Inject() private readonly endpoints!: WebhookEndpointsService;
  @Inject() private readonly redeliveries!: RedeliveriesService;
  @Inject() private readonly clients!: AccessibleClients;
  @Inject() private readonly overviews!: RequestLogOverviewService;

  async describe(visit: PageVisit): Promise<ListDescription<ListedDelivery, ListEventsQuery>> {
    const { actor, environment, query } = visit;
    const { data: endpoints } = await this.endpoints.list(actor, environment);
    const isFiltered = ['event', 'external_user_id', 'start', 'end', 'outcome'].some((name) => query[name]);
    return {
      title: 'Events',
      about: 'One row for each event and endpoint.',
      filters: (
        <>
          <FilterChoice name="event" label="Event" options={this.endpoints.eventOptions()} />
          <Filter name="external_user_id" label="Customer" />
          <FurtherFilters names={['start', 'end']}>
            <PeriodFields />
          </FurtherFilters>
          {query['outcome'] ? <input type="hidden" name="outcome" value={String(query['outcome'])} /> : null}
        </>
      ),
      canBeLive: true,
      rows: async (search, limit) => {
        const { period, data, nextCursor, counts } = await this.events.page(visit, search, limit);
        const { event = '', external_user_id = '' } = search;
        const bounds = { start: period.start.toISOString(), end: period.end.toISOString() };
        const action = resendPath(environment);
        const points = data.length > 0 ? await this.histogram(visit, search, bounds) : undefined;
        return {
          data,
          next_cursor: nextCursor,
          above: points && <Histogram points={points} things={['attempt', 'attempts']} />,
          views: (
            <Views
              name="outcome"
              views={[
                { value: '', label: 'All' },
                { value: 'failed', label: `Failed ${upTo(counts.failed)}` },
                { value: 'waiting', label: `Waiting ${upTo(counts.waiting)}` },
                { value: 'not_sent', label: 'Not sent' },
              ]}
            />
          ),
          tools: (
            <>
              {counts.failed > 0 ? (
                <Allowed permission={REQUEST_LOG_PERMISSIONS.redeliverWebhook}>
                  <a href={pathWith(action, { event, external_user_id }, { ...bounds, ...FROM_EVENTS })}>
                    Send all failed again
                  </a>
                </Allowed>
              ) : null}
              <TestMenu endpoints={endpoints} event={event} />
            </>
          ),
          selection: {
            permission: REQUEST_LOG_PERMISSIONS.redeliverWebhook,
            action,
            label: 'Send again',
            things: ['delivery', 'deliveries'],
            selectable,
          },
        };
      },
      isDense: true,
      keyOf: ({ event, delivery }) => `${event.id}-${delivery?.endpoint_id.slice(0, 8) ?? ''}`,
      columns: [
        { title: 'Time', kind: 'clock', cell: ({ event }) => event.createdAt },
        {
          title: 'Event',
          kind: 'main',
          cell: ({ event, delivery }) => (
            <>
              <a href={dashboardPath(environment, 'events', event.id)}>{event.name}</a>{' '}
              {event.isTest ? <Badge tone="soft">Test</Badge> : null}
              {delivery ? <span class="on-phone">{` to ${endpointOf(delivery, endpoints)}`}</span> : null}
            </>
          ),
        },
        {
          title: 'Endpoint',
          kind: 'text',
          isOnDeskOnly: true,
          cell: ({ delivery }) => delivery && endpointOf(delivery, endpoints),
        },
        { title: 'Outcome', kind: 'short', cell: ({ delivery }) => <Outcome delivery={delivery} /> },
        {
          title: 'Attempts',
          kind: 'number',
          isOnDeskOnly: true,
          cell: ({ delivery }) => delivery && attemptsOf(delivery),
        },
        {
          title: 'Next attempt',
          kind: 'short',
          isOnDeskOnly: true,
          isOnWideOnly: query['outcome'] !== 'waiting',
          isOmittedIfEmpty: true,
          cell: ({ delivery }) => delivery?.next_attempt_at && <ClockTime time={delivery.next_attempt_at} />,
        },
        {
          title: 'Customer',
          kind: 'user',
          isOnDeskOnly: true,
          cell: ({ event: { externalUserId: user } }) => (user === null ? null : <UserLink user={user} />),
        },
      ],
      empty: isFiltered
        ? {
            title: 'No events match these filters',
            text: `Clear the filters to see all events of the last ${MAX_PERIOD_DAYS} days.`,
          }
        : { title: `No events in the last ${MAX_PERIOD_DAYS} days`, text: noEvents(environment) },
    };
  }

  /** The attempts of the period by time. The log counts no users, and no deliveries without an attempt. */
  private async histogram(
    { actor, environment }: PageVisit,
    { event, external_user_id: user, outcome }: ListEventsQuery,
    bounds: OverviewQuery,
  ): Promise<HistogramPoint[] | undefined> {
    if (user !== undefined || (outcome !== undefined && outcome !== 'failed')) return undefined;
    const client = await this.clients.forEnvironment(actor, environment);
    const points = await this.overviews.histogram(client, bounds, { type: 'webhook', event });
    return outcome === 'failed' ? points?.map((point) => ({ ...point, succeeded: 0 })) : points;
  }

  @Get(':event_id')
  @DashboardPage(REQUEST_LOG_PERMISSIONS.listRequestLogs)
  async get(@Visit() visit: PageVisit<'event_id'>): Promise<PageResponse> {
    const { actor, environment } = visit;
    const [event, { data }] = await Promise.all([
      this.events.get(visit, visit.params.event_id),
      this.endpoints.list(actor, environment),
    ]);
    return eventPage(environment, event, data);
  }

  @Post(':event_id')
  @DashboardAction(REQUEST_LOG_PERMISSIONS.redeliverWebhook)
  async sendAgain(@Visit() visit: PageVisit<'event_id'>): Promise<PageResponse> {
    const { actor, environment, form } = visit;
    const { event_id: id } = visit.params;
    const endpointId = form.get('endpoint_id') ?? '';
    const endpoint = await this.endpoints.requireIn(visit, endpointId);
    const { event_id: eventId } = requestFrom(RedeliverRequest, form, { event_id: id });
    return submitted(
      async () => {
        requireUnchanged(form, addressOf(endpoint.url));
        const { queued } = await this.redeliveries.redeliver(actor, endpointId, eventId);
        const done = queued === 0 ? 'waiting' : 'queued';
        return { redirectTo: `${dashboardPath(environment, 'events', id)}?done=${done}&live=on` };
      },
      () => this.get(visit),
    );
  }
}

interface TestMenuProps {
  readonly endpoints: readonly WebhookEndpointResponse[];
  /** The event that the form begins with; empty for any. */
  readonly event: string;
}

/** Leads to the form that sends an example of an event to an endpoint. */
function TestMenu({ endpoints, event }: TestMenuProps): VNode | null {
  const { environment } = usePage();
  if (endpoints.length === 0) return null;
  return (
    <Allowed permission={DELIVERY_PERMISSIONS.testWebhookEndpoint}>
      <details class="popover">
        <summary>Send a test</summary>
        <div class="panel">
          <p class="hint">Send an example event to:</p>
          <ul>
            {endpoints.map(({ id, url }) => (
              <li key={id}>
                <a href={pathWith(`${endpointPath(environment, id)}/test`, { event }, {})}>{hostOf(url)}</a>
              </li>
            ))}
          </ul>
        </div>
      </details>
    </Allowed>
  );
}

const STATES: Readonly<Record<DeliveryState, readonly [Tone, string]>> = {
  failed: ['bad', 'Failed'],
  waiting: ['warn', 'Waiting'],
  in_progress: ['warn', 'In progress'],
  succeeded: ['good', 'Succeeded'],
};

function noEvents(environment: PlatformEnvironment): VNode {
  return (
    <>
      <p>An event is published when something happens in a session, such as a card that was updated.</p>
      {environment === 'development' ? (
        <>
          <p>In the sandbox, you trigger one yourself:</p>
          <CodeBlock title="Trigger an event" code="npx mcs trigger CARD_UPDATED" />
          <Link to="/docs/sandbox">All that the sandbox simulates</Link>
        </>
      ) : (
        <p>Choose an earlier time above to see older events.</p>
      )}
    </>
  );
}

/** Returns a number of deliveries in digits, with a plus sign if there may be more. */
function upTo(count: number): string {
  return `${inDigits(count)}${count >= MAX_COUNTED ? '+' : ''}`;
}

/** A delivery can be sent again if its last attempt has failed. */
function selectable({ event, delivery }: ListedDelivery) {
  const { state, last, endpoint_id: endpointId = '' } = delivery ?? {};
  const hasFailed = state === 'failed' || (state === 'waiting' && last !== undefined);
  return hasFailed && !event.isTest
    ? { value: `${event.id}.${endpointId.slice(0, 8)}`, of: event.name }
    : undefined;
}

function endpointOf(
  { endpoint_id: id, last }: EventDelivery,
  endpoints: readonly WebhookEndpointResponse[],
): string {
  const url = endpoints.find((endpoint) => endpoint.id === id)?.url ?? last?.url;
  return url === undefined ? 'Deleted endpoint' : hostOf(url);
}

function Outcome({ delivery }: Pick<ListedDelivery, 'delivery'>): VNode {
  if (!delivery) return <Badge tone="soft">Not sent</Badge>;
  const [tone, label] = STATES[delivery.state];
  return <Badge tone={tone}>{label}</Badge>;
}

/** Returns how many attempts were made and, while there may be more, how many there are at most. */
function attemptsOf({ attempts, current }: EventDelivery): string {
  return current ? `${current.attempts}/${current.allowed}` : String(attempts);
}

/** An endpoint, and the delivery of the event to it if there is one. */
interface Target {
  readonly event: ListedEvent;
  readonly id: string;
  /** Undefined if the endpoint was deleted. */
  readonly endpoint: WebhookEndpointResponse | undefined;
  readonly delivery: EventDelivery | undefined;
}

const MESSAGES = {
  queued:
    'The event is being sent. If it waited for a retry and this attempt fails, the retry follows as planned.',
  waiting:
    'The event is already next in line for this endpoint. A paused endpoint gets it when you resume it.',
};

/** @param endpoints all endpoints of the environment */
function eventPage(
  environment: PlatformEnvironment,
  event: TracedEvent,
  endpoints: readonly WebhookEndpointResponse[],
): Page {
  const { createdAt, externalUserId, sessionId, deliveries } = event;
  const logs = dashboardPath(environment, 'request-logs');
  const ids = new Set([...endpoints.map(({ id }) => id), ...deliveries.map(({ endpoint_id: id }) => id)]);
  const targets = [...ids].map((id) => ({
    event,
    id,
    endpoint: endpoints.find((endpoint) => endpoint.id === id),
    delivery: deliveries.find((delivery) => delivery.endpoint_id === id),
  }));
  return {
    title: event.name,
    parent: { title: 'Events', path: dashboardPath(environment, 'events') },
    messages: MESSAGES,
    content: (
      <>
        <FormProblem />
        <Details
          entries={[
            [
              'Time',
              <span key="time">
                <Moment time={createdAt} /> (<RelativeTime time={createdAt} />)
              </span>,
            ],
            ['Customer', externalUserId && <UserLink key="user" user={externalUserId} isWhole />],
            [
              'Session',
              sessionId && (
                <a
                  key="session"
                  href={pathWith(logs, { session_id: sessionId, ...periodSince(createdAt) }, {})}
                >
                  {sessionId}
                </a>
              ),
            ],
            ['Task', event.taskId],
            [
              'ID',
              <span key="id">
                <code>{event.id}</code> (the <code>webhook-id</code> header of its deliveries)
              </span>,
            ],
            ['Test', event.isTest ? 'Yes: an example that was sent to test an endpoint' : null],
          ]}
        />
        <h2>Deliveries</h2>
        <Deliveries event={event} targets={targets} attempts={event.attempts} />
        <h2>Content</h2>
        <CodeBlock title="Body" code={JSON.stringify(JSON.parse(event.body.toString()), null, 2)} />
      </>
    ),
  };
}

interface DeliveriesProps {
  readonly event: ListedEvent;
  /** All endpoints of the environment, and then deleted ones that the event was sent to. */
  readonly targets: readonly Target[];
  /** All attempts, oldest first. */
  readonly attempts: readonly RequestLogEntry[];
}

function Deliveries({ event, targets, attempts }: DeliveriesProps): VNode {
  const { environment, rejected } = usePage();
  rejected?.problem.add('event_id', 'Event');
  const filters = { event_id: event.id, ...periodSince(event.createdAt) };
  const log = pathWith(dashboardPath(environment, 'request-logs'), filters, {});
  if (targets.length === 0)
    return (
      <EmptyState title="There is no endpoint in this environment">
        <p>The event was not sent to anyone. Create an endpoint to receive events.</p>
        <Link to={dashboardPath(environment, 'webhook-endpoints')}>Webhook endpoints</Link>
      </EmptyState>
    );
  return (
    <Results canBeLive>
      <Table
        caption="Deliveries"
        rows={targets}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Endpoint', kind: 'main', cell: (target) => <Endpoint {...target} /> },
          { title: 'State', kind: 'state', cell: Outcome },
          { title: 'Last attempt', kind: 'status', cell: (target) => <LastAttempt {...target} /> },
          {
            title: 'Attempts',
            kind: 'number',
            isOnWideOnly: true,
            cell: ({ delivery }) => delivery?.attempts ?? 0,
          },
          { title: 'Next attempt', kind: 'text', cell: (target) => <NextAttempt {...target} /> },
          { title: 'Actions', kind: 'buttons', cell: (target) => <SendAgain {...target} /> },
        ]}
      />
      {targets
        .filter(({ delivery }) => delivery)
        .map((target) => (
          <Attempts
            key={target.id}
            target={target}
            attempts={attempts.filter((attempt) => attempt.endpoint_id === target.id)}
          />
        ))}
      <Link to={log}>All attempts in the request log</Link>
    </Results>
  );
}

/** Shows the attempts to deliver the event to an endpoint, and the next one. */
function Attempts({
  target,
  attempts,
}: Pick<DeliveriesProps, 'attempts'> & { readonly target: Target }): VNode {
  const { environment } = usePage();
  const { event, id, endpoint, delivery } = target;
  const next = delivery?.next_attempt_at;
  const url = endpoint?.url ?? delivery?.last?.url ?? null;
  return (
    <>
      <h3>{url === null ? id : hostOf(url)}</h3>
      <Timeline
        steps={[
          { time: event.createdAt, tone: 'soft', text: 'Published' },
          ...attempts.map(({ id: entry, datetime, latency_ms, reason, status_code, delivery: details }) => ({
            time: datetime,
            tone: reason === null ? ('good' as const) : ('bad' as const),
            text: (
              <>
                <a href={dashboardPath(environment, 'request-logs', String(entry))}>
                  Attempt {details?.attempt}
                </a>{' '}
                <AttemptResult statusCode={status_code} reason={reason} />{' '}
                <span class="soft">{inMilliseconds(latency_ms)}</span>
              </>
            ),
          })),
          ...(delivery?.state === 'in_progress'
            ? [{ tone: 'warn' as const, text: 'An attempt is in progress' }]
            : []),
          ...(next ? [{ time: next, tone: 'warn' as const, text: <>Next attempt{nextOf(target)}</> }] : []),
        ]}
      />
    </>
  );
}

/** Says what the next attempt waits for, if not only for its time. */
function nextOf({ endpoint }: Target): string {
  return endpoint?.status === 'paused' ? ', when you resume the endpoint' : '';
}

function Endpoint({ id, endpoint, delivery }: Target): VNode {
  const { environment } = usePage();
  if (endpoint)
    return (
      <a href={endpointPath(environment, id)}>
        <Middle text={endpoint.url} />
      </a>
    );
  return <Middle text={`${delivery?.last?.url ?? id} (deleted)`} />;
}

function LastAttempt({ delivery }: Target): ComponentChildren {
  const { environment } = usePage();
  const last = delivery?.last;
  if (!last) return 'No attempt';
  return (
    <a href={dashboardPath(environment, 'request-logs', String(last.id))}>
      <AttemptResult {...last} />
    </a>
  );
}

/** The service also retries a delivery whose endpoint has unsubscribed from the event in the meantime. */
function NextAttempt(target: Target): ComponentChildren {
  const { now } = usePage();
  const { endpoint, delivery } = target;
  const next = delivery?.next_attempt_at;
  if (!next || !endpoint || endpoint.status === 'disabled') return whyNotSent(target) ?? 'None';
  if (endpoint.status === 'paused') return 'When you resume the endpoint';
  return next <= now ? 'As soon as possible' : <Moment time={next} />;
}

/** Returns why the event cannot be sent to an endpoint; undefined if it can. */
function whyNotSent({ event, endpoint, delivery }: Target): string | undefined {
  if (!endpoint) return 'Endpoint deleted';
  if (endpoint.status === 'disabled') return 'Endpoint disabled';
  if (delivery?.state === 'in_progress') return 'Being sent';
  const isSubscribed = event.isTest || endpoint.events === null || endpoint.events.includes(event.name);
  return isSubscribed ? undefined : 'Not subscribed';
}

function SendAgain(target: Target): VNode | null {
  const { event, id, endpoint, delivery } = target;
  const { environment } = usePage();
  if (whyNotSent(target) !== undefined) return null;
  return (
    <Allowed permission={REQUEST_LOG_PERMISSIONS.redeliverWebhook}>
      <ActionButton
        action={dashboardPath(environment, 'events', event.id)}
        fields={{ endpoint_id: id }}
        version={addressOf(endpoint?.url)}
        of={`to ${endpoint?.url}`}
      >
        {!delivery ? 'Send' : delivery.state === 'waiting' ? 'Send now' : 'Send again'}
      </ActionButton>
    </Allowed>
  );
}
