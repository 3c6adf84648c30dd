import type { ComponentChildren, VNode } from 'preact';
import { Controller, Get, Inject, Post } from '@nestjs/common';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { EVENT_NAMES } from '../../../infrastructure/event-catalog/index.js';
import {
  ActionButton,
  Allowed,
  Badge,
  CodeBlock,
  dashboardPath,
  Details,
  EmptyState,
  Filter,
  FilterChoice,
  FormProblem,
  FurtherFilters,
  Link,
  ListPage,
  Middle,
  Moment,
  pathWith,
  PeriodFields,
  RelativeTime,
  Results,
  Table,
  usePage,
  UserLink,
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  submitted,
  Visit,
  type ListDescription,
  type Page,
  type Tone,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { MAX_PERIOD_DAYS, periodSince } from '../../request-logs/index.js';
import {
  AttemptResult,
  endpointPath,
  WebhookEndpointsService,
  type WebhookEndpointResponse,
} from '../../webhook-endpoints/index.js';
import type { ListedEvent, PublishedEvent } from '../events/published-events.repository.js';
import { ListEventsQuery, type DeliveryState } from '../events/published-events.dto.js';
import {
  PublishedEventsService,
  type EventDelivery,
  type WithDeliveries,
} from '../events/published-events.service.js';
import { RedeliverRequest } from '../deliveries/deliveries.dto.js';
import { ResendsService } from '../resends/resends.service.js';
import { FROM_EVENTS, resendPath } from './resend.pages.js';

/** Their deliveries are read, too. */
const EVENTS_PER_PAGE = 25;

@Controller(inEachEnvironment('events'))
export class EventsPagesController extends ListPage('listRequestLogs', ListEventsQuery) {
  @Inject() private readonly events!: PublishedEventsService;
  @Inject() private readonly endpoints!: WebhookEndpointsService;
  @Inject() private readonly resends!: ResendsService;

  describe(visit: PageVisit): ListDescription<WithDeliveries<ListedEvent>, ListEventsQuery> {
    const { environment, query } = visit;
    const isFiltered = ['event', 'external_user_id', 'start', 'end'].some((name) => query[name]);
    return {
      title: 'Events',
      about: 'What your webhook endpoints receive.',
      filters: (
        <>
          <FilterChoice name="event" label="Event" options={EVENT_OPTIONS} />
          <Filter name="external_user_id" label="User" />
          <FurtherFilters names={['start', 'end']}>
            <PeriodFields />
          </FurtherFilters>
        </>
      ),
      canBeLive: true,
      rows: async (search, limit) => {
        const pageSize = Math.min(limit, EVENTS_PER_PAGE);
        const { period, data, nextCursor } = await this.events.page(visit, search, pageSize);
        const { event = '', external_user_id = '' } = search;
        const bounds = { start: period.start.toISOString(), end: period.end.toISOString() };
        const action = resendPath(environment);
        const links = (
          <a href={pathWith(action, { event, external_user_id }, { ...bounds, ...FROM_EVENTS })}>
            Send all failed again
          </a>
        );
        return {
          data,
          next_cursor: nextCursor,
          selection: {
            operation: 'redeliverWebhook',
            action,
            label: 'Send again',
            things: ['event', 'events'],
            links,
            selectable: (each) => (hasFailed(each) ? { value: each.id, of: each.name } : undefined),
          },
        };
      },
      isDense: true,
      columns: [
        {
          title: 'Event',
          kind: 'main',
          cell: (event) => (
            <>
              <a href={dashboardPath(environment, 'events', event.id)}>{event.name}</a>{' '}
              {event.isTest ? <Badge tone="soft">Test</Badge> : null}
            </>
          ),
        },
        { title: 'Time', kind: 'time', cell: ({ createdAt }) => createdAt },
        {
          title: 'User',
          kind: 'user',
          cell: ({ externalUserId: user }) => (user === null ? null : <UserLink user={user} />),
        },
        { title: 'Deliveries', kind: 'main', cell: outcomesOf },
      ],
      empty: isFiltered
        ? {
            title: 'No events match these filters',
            text: `Clear the filters to see all events of the last ${MAX_PERIOD_DAYS} days.`,
          }
        : { title: `No events in the last ${MAX_PERIOD_DAYS} days`, text: noEvents(environment) },
    };
  }

  @Get(':event_id')
  @DashboardPage('listRequestLogs')
  async get(@Visit() visit: PageVisit<'event_id'>): Promise<PageResponse> {
    const { actor, environment } = visit;
    const [event, { data }] = await Promise.all([
      this.events.get(visit, visit.params.event_id),
      this.endpoints.list(actor, environment),
    ]);
    return eventPage(environment, event, data);
  }

  @Post(':event_id')
  @DashboardAction('redeliverWebhook')
  async sendAgain(@Visit() visit: PageVisit<'event_id'>): Promise<PageResponse> {
    const { actor, environment, form } = visit;
    const { event_id: id } = visit.params;
    const endpointId = form.get('endpoint_id') ?? '';
    await this.endpoints.requireIn(visit, endpointId);
    const { event_id: eventId } = requestFrom(RedeliverRequest, form, { event_id: id });
    return submitted(
      async () => {
        const { queued } = await this.resends.redeliver(actor, endpointId, eventId);
        const done = queued === 0 ? 'waiting' : 'queued';
        return { redirectTo: `${dashboardPath(environment, 'events', id)}?done=${done}&live=on` };
      },
      () => this.get(visit),
    );
  }
}

const EVENT_OPTIONS = EVENT_NAMES.map((name) => ({ value: name, label: name }));

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
        <Link to="/docs/sandbox">Trigger an event in the sandbox</Link>
      ) : (
        <p>Choose an earlier time above to see older events.</p>
      )}
    </>
  );
}

/** Whether the event can be sent again to an endpoint that has not received it. */
function hasFailed({ isTest, deliveries }: WithDeliveries<ListedEvent>): boolean {
  const isFailed = ({ state, last }: EventDelivery): boolean =>
    state === 'failed' || (state === 'waiting' && last !== undefined);
  return !isTest && deliveries.some(isFailed);
}

function outcomesOf({ deliveries }: WithDeliveries<ListedEvent>): VNode {
  if (deliveries.length === 0) return <Badge tone="soft">Not sent</Badge>;
  const badges = Object.entries(STATES).flatMap(([state, [tone, label]]) => {
    const count = deliveries.filter((delivery) => delivery.state === state).length;
    const text = deliveries.length === 1 ? label : `${count} ${label.toLowerCase()}`;
    return count === 0 ? [] : [<Badge tone={tone}>{text}</Badge>, ' '];
  });
  return <div>{badges}</div>;
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
  event: WithDeliveries<PublishedEvent>,
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
            ['User', externalUserId && <UserLink key="user" user={externalUserId} isWhole />],
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
        <Deliveries event={event} targets={targets} />
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
}

function Deliveries({ event, targets }: DeliveriesProps): VNode {
  const { environment, rejected } = usePage();
  rejected?.labels.add('event_id', 'Event', false);
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
          { title: 'State', kind: 'short', cell: stateOf },
          { title: 'Last attempt', kind: 'main', cell: (target) => <LastAttempt {...target} /> },
          { title: 'Attempts', kind: 'number', cell: ({ delivery }) => delivery?.attempts ?? 0 },
          { title: 'Next attempt', kind: 'id', cell: (target) => <NextAttempt {...target} /> },
          { title: 'Actions', kind: 'buttons', cell: (target) => <SendAgain {...target} /> },
        ]}
      />
      <Link to={log}>All attempts in the request log</Link>
    </Results>
  );
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

function stateOf({ delivery }: Target): VNode {
  const [tone, label] = delivery ? STATES[delivery.state] : (['soft', 'Not sent'] as const);
  return <Badge tone={tone}>{label}</Badge>;
}

function LastAttempt({ delivery }: Target): ComponentChildren {
  const { environment } = usePage();
  const last = delivery?.last;
  if (!last) return 'No attempt';
  return (
    <>
      <AttemptResult {...last} />{' '}
      <a href={dashboardPath(environment, 'request-logs', String(last.id))}>
        <RelativeTime time={last.createdAt} />
      </a>
    </>
  );
}

/** The service also retries a delivery whose endpoint has unsubscribed from the event in the meantime. */
function NextAttempt(target: Target): ComponentChildren {
  const { now } = usePage();
  const { endpoint, delivery } = target;
  const next = delivery?.next_attempt_at;
  if (!next || !endpoint || endpoint.status === 'disabled') return whyNotSent(target) ?? 'None';
  if (endpoint.status === 'paused') return 'When you resume the endpoint';
  return next <= now ? 'As soon as possible' : <RelativeTime time={next} />;
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
    <Allowed operation="redeliverWebhook">
      <ActionButton
        action={dashboardPath(environment, 'events', event.id)}
        fields={{ endpoint_id: id }}
        of={`to ${endpoint?.url}`}
      >
        {!delivery ? 'Send' : delivery.state === 'waiting' ? 'Send now' : 'Send again'}
      </ActionButton>
    </Allowed>
  );
}
