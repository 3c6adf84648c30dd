import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { mayPerform } from '../../../infrastructure/auth/index.js';
import { EVENT_NAMES } from '../../../infrastructure/event-catalog/index.js';
import {
  ActionButton,
  Allowed,
  Badge,
  checkColumn,
  CodeBlock,
  dashboardPath,
  Details,
  Done,
  EmptyState,
  Filter,
  FilterChoice,
  FilterForm,
  FormProblem,
  FurtherFilters,
  Link,
  Middle,
  Moment,
  Pagination,
  pathWith,
  PeriodFields,
  RelativeTime,
  Results,
  Selection,
  Table,
  usePage,
  UserLink,
  type Page,
  type Tone,
} from '../../../infrastructure/pages/index.js';
import { MAX_PERIOD, MAX_PERIOD_DAYS } from '../../request-logs/index.js';
import { type WebhookEndpointResponse, AttemptResult, endpointPath } from '../../webhook-endpoints/index.js';
import type { ListedEvent, PublishedEvent } from '../events/published-events.repository.js';
import type { DeliveryState } from '../events/published-events.dto.js';
import type { EventDelivery, EventPage, WithDeliveries } from '../events/published-events.service.js';
import { FROM_EVENTS, resendPath } from './resend.pages.js';

const EVENT_OPTIONS = EVENT_NAMES.map((name) => ({ value: name, label: name }));

const STATES: Readonly<Record<DeliveryState, readonly [Tone, string]>> = {
  failed: ['bad', 'Failed'],
  waiting: ['warn', 'Waiting'],
  in_progress: ['warn', 'In progress'],
  succeeded: ['good', 'Succeeded'],
};

/** @param page undefined if the filters were not accepted */
export function eventsPage(page?: EventPage): Page {
  return {
    title: 'Events',
    about: 'What your webhook endpoints receive.',
    content: (
      <>
        <FilterForm canBeLive={page !== undefined}>
          <FilterChoice name="event" label="Event" options={EVENT_OPTIONS} />
          <Filter name="external_user_id" label="User" />
          <FurtherFilters names={['start', 'end']}>
            <PeriodFields />
          </FurtherFilters>
        </FilterForm>
        <Results canBeLive={page !== undefined} hasTools>
          <FormProblem />
          {page?.data.length === 0 ? <NoEvents /> : null}
          {page?.data.length ? <Events page={page} /> : null}
          <Pagination nextCursor={page?.nextCursor ?? null} />
        </Results>
      </>
    ),
  };
}

function NoEvents(): VNode {
  const { environment, query } = usePage();
  const isFiltered = ['event', 'external_user_id', 'start', 'end'].some((name) => query[name]);
  if (isFiltered)
    return (
      <EmptyState title="No events match these filters">
        <p>{`Clear the filters to see all events of the last ${MAX_PERIOD_DAYS} days.`}</p>
      </EmptyState>
    );
  return (
    <EmptyState title={`No events in the last ${MAX_PERIOD_DAYS} days`}>
      <p>An event is published when something happens in a session, such as a card that was updated.</p>
      {environment === 'development' ? (
        <Link to="/docs/sandbox">Trigger an event in the sandbox</Link>
      ) : (
        <p>Choose an earlier time above to see older events.</p>
      )}
    </EmptyState>
  );
}

function Events({ page: { data: events, period } }: { readonly page: EventPage }): VNode {
  const { environment, query, user: visitor } = usePage();
  const maySendAgain =
    visitor !== undefined && mayPerform(visitor, 'redeliverWebhook') && events.some(hasFailed);
  const filters = { event: query['event'] ?? '', external_user_id: query['external_user_id'] ?? '' };
  const bounds = { start: period.start.toISOString(), end: period.end.toISOString() };
  const table = (
    <Table
      isDense
      caption="Events"
      rows={events}
      keyOf={({ id }) => id}
      columns={[
        ...(maySendAgain ? [checkColumn(selectable)] : []),
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
          cell: ({ externalUserId: user }) => (user === null ? 'No user' : <UserLink user={user} />),
        },
        { title: 'Deliveries', kind: 'main', cell: ({ deliveries }) => <Outcomes deliveries={deliveries} /> },
      ]}
    />
  );
  if (!maySendAgain) return table;
  return (
    <Selection
      action={resendPath(environment)}
      label="Send again"
      things={['event', 'events']}
      links={
        <a href={pathWith(resendPath(environment), filters, { ...bounds, ...FROM_EVENTS })}>
          Send all failed again
        </a>
      }
    >
      {table}
    </Selection>
  );
}

const selectable = (event: WithDeliveries<ListedEvent>) =>
  hasFailed(event) ? { value: event.id, of: event.name } : undefined;

/** Whether the event can be sent again to an endpoint that has not received it. */
function hasFailed({ isTest, deliveries }: WithDeliveries<ListedEvent>): boolean {
  const isFailed = ({ state, last }: EventDelivery): boolean =>
    state === 'failed' || (state === 'waiting' && last !== undefined);
  return !isTest && deliveries.some(isFailed);
}

/** How many deliveries are in each state. */
function Outcomes({ deliveries }: { readonly deliveries: readonly EventDelivery[] }): VNode {
  const counts = Object.entries(STATES).map(([state, [tone, label]]) => ({
    label,
    tone,
    count: deliveries.filter((delivery) => delivery.state === state).length,
  }));
  if (deliveries.length === 0) return <Badge tone="soft">Not sent</Badge>;
  return (
    <div>
      {counts
        .filter(({ count }) => count > 0)
        .map(({ label, tone, count }) => [
          <Badge key={label} tone={tone}>
            {deliveries.length === 1 ? label : `${count} ${label.toLowerCase()}`}
          </Badge>,
          ' ',
        ])}
    </div>
  );
}

/** An endpoint, and the delivery of the event to it if there is one. */
interface Target {
  readonly id: string;
  /** Undefined if the endpoint was deleted. */
  readonly endpoint: WebhookEndpointResponse | undefined;
  readonly delivery: EventDelivery | undefined;
}

/** @param endpoints all endpoints of the environment */
export function eventPage(
  environment: PlatformEnvironment,
  event: WithDeliveries<PublishedEvent>,
  endpoints: readonly WebhookEndpointResponse[],
): Page {
  const { id: eventId, createdAt, externalUserId, sessionId, taskId, deliveries } = event;
  const logs = dashboardPath(environment, 'request-logs');
  const events = dashboardPath(environment, 'events');
  const ids = new Set([...endpoints.map(({ id }) => id), ...deliveries.map(({ endpointId }) => endpointId)]);
  const targets = [...ids].map((id) => ({
    id,
    endpoint: endpoints.find((endpoint) => endpoint.id === id),
    delivery: deliveries.find(({ endpointId }) => endpointId === id),
  }));
  return {
    title: event.name,
    parent: { title: 'Events', path: events },
    content: (
      <>
        <Done
          messages={{
            queued:
              'The event is being sent. If it waited for a retry and this attempt fails, the retry follows as planned.',
            waiting:
              'The event is already next in line for this endpoint. A paused endpoint gets it when you resume it.',
          }}
        />
        <FormProblem />
        <Details
          entries={[
            [
              'Time',
              <span key="time">
                <Moment time={createdAt} /> (<RelativeTime time={createdAt} />)
              </span>,
            ],
            ['User', externalUserId && <UserLink key="user" user={externalUserId} />],
            [
              'Session',
              sessionId && (
                <a key="session" href={`${logs}?session_id=${sessionId}&${periodSince(createdAt)}`}>
                  {sessionId}
                </a>
              ),
            ],
            ['Task', taskId === null ? null : String(taskId)],
            [
              'ID',
              <span key="id">
                <code>{eventId}</code> (the <code>webhook-id</code> header of its deliveries)
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

/** The request log shows the last day by default, and at most 7 days. */
function periodSince(time: Date): string {
  const end = new Date(time.getTime() + MAX_PERIOD);
  return String(new URLSearchParams({ start: time.toISOString(), end: end.toISOString() }));
}

interface DeliveriesProps {
  readonly event: WithDeliveries<PublishedEvent>;
  /** All endpoints of the environment, and then deleted ones that the event was sent to. */
  readonly targets: readonly Target[];
}

function Deliveries({ event, targets }: DeliveriesProps): VNode {
  const { environment, rejected } = usePage();
  rejected?.labels.add('event_id', 'Event', false);
  const log = `${dashboardPath(environment, 'request-logs')}?event_id=${event.id}&${periodSince(event.createdAt)}`;
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
          { title: 'Endpoint', kind: 'main', cell: (target) => <Endpoint target={target} /> },
          { title: 'State', kind: 'short', cell: ({ delivery }) => <State delivery={delivery} /> },
          {
            title: 'Last attempt',
            kind: 'main',
            cell: ({ delivery }) => <LastAttempt delivery={delivery} />,
          },
          { title: 'Attempts', kind: 'number', cell: ({ delivery }) => delivery?.attempts ?? 0 },
          {
            title: 'Next attempt',
            kind: 'text',
            cell: (target) => <NextAttempt event={event} target={target} />,
          },
          {
            title: 'Actions',
            kind: 'buttons',
            cell: (target) =>
              whyNotSent(event, target) === undefined ? <SendAgain event={event} target={target} /> : null,
          },
        ]}
      />
      <Link to={log}>All attempts in the request log</Link>
    </Results>
  );
}

function Endpoint({ target: { id, endpoint, delivery } }: { readonly target: Target }): VNode {
  const { environment } = usePage();
  if (endpoint)
    return (
      <a href={endpointPath(environment, id)}>
        <Middle text={endpoint.url} />
      </a>
    );
  return <Middle text={`${delivery?.last?.url ?? id} (deleted)`} />;
}

function State({ delivery }: Pick<Target, 'delivery'>): VNode {
  const [tone, label] = delivery ? STATES[delivery.state] : (['soft', 'Not sent'] as const);
  return <Badge tone={tone}>{label}</Badge>;
}

function LastAttempt({ delivery }: Pick<Target, 'delivery'>): ComponentChildren {
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
function NextAttempt({ event, target }: TargetProps): ComponentChildren {
  const { now } = usePage();
  const { endpoint, delivery } = target;
  const next = delivery?.nextAttemptAt;
  if (!next || !endpoint || endpoint.status === 'disabled') return whyNotSent(event, target) ?? 'None';
  if (endpoint.status === 'paused') return 'When you resume the endpoint';
  return next <= now ? 'As soon as possible' : <RelativeTime time={next} />;
}

/** Returns why the event cannot be sent to an endpoint; undefined if it can. */
function whyNotSent(event: ListedEvent, { endpoint, delivery }: Target): string | undefined {
  if (!endpoint) return 'Endpoint deleted';
  if (endpoint.status === 'disabled') return 'Endpoint disabled';
  if (delivery?.state === 'in_progress') return 'Being sent';
  const isSubscribed = event.isTest || endpoint.events === null || endpoint.events.includes(event.name);
  return isSubscribed ? undefined : 'Not subscribed';
}

interface TargetProps {
  readonly event: ListedEvent;
  readonly target: Target;
}

function SendAgain({ event, target }: TargetProps): VNode {
  const { id, endpoint, delivery } = target;
  const { environment } = usePage();
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
