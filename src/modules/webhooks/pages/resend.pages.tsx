import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  Badge,
  confirmationPage,
  dashboardPath,
  Details,
  Done,
  EmptyState,
  FormProblem,
  inDigits,
  Link,
  Moment,
  Middle,
  pathWith,
  RelativeTime,
  Results,
  Table,
  usePage,
  type Page,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import type { ResendPlan, ResendTarget, Resend } from '../recoveries/resends.service.js';
import { endpointPath, EndpointStatus } from './endpoint-parts.pages.js';

/** The fields of the form that starts a resend. */
export const RESEND_ID_FIELD = 'resend_id';
export const QUERY_FIELD = 'query';
/** The parameter with which the list of events links to the plan, so that *Cancel* leads back there. */
export const FROM_EVENTS = { from: 'events' };

export function resendPath(environment: PlatformEnvironment): string {
  return dashboardPath(environment, 'events', 'failed', 'send-again');
}

/** The filters by which deliveries can be found, as the request log calls them. */
const FILTERS = {
  event: 'Event',
  external_user_id: 'User',
  status_code: 'Status code',
  session_id: 'Session ID',
  task_id: 'Task ID',
  event_id: 'Event ID',
  error_code: 'Error code',
  request_id: 'Request ID',
} as const;
type FilterName = keyof typeof FILTERS;

/**
 * Says what would be sent, and asks before it is.
 *
 * @param plan undefined if the filters were not accepted
 * @param resendId of the resend that the form starts
 * @param query the parameters of the link to the plan
 */
export function resendPlanPage(
  environment: PlatformEnvironment,
  plan: ResendPlan | undefined,
  resendId: string,
  query: PageVisit['query'],
): Page {
  const parent = cameFrom(environment, query) ?? failedDeliveries(environment, plan);
  if (!plan || plan.count === 0)
    return {
      title: plan ? 'Nothing to send again' : 'Send failed deliveries again',
      parent,
      content: plan ? <Nothing plan={plan} /> : <FilterProblem />,
    };
  const deliveries = numberOf(plan.count, 'delivery', 'deliveries');
  return confirmationPage({
    title: `Send ${deliveries} again?`,
    parent,
    action: resendPath(environment),
    button: `Send ${deliveries} again`,
    isDestructive: false,
    children: (
      <>
        <p>
          The service sends each of these events once more, with retries. If an event waits for a retry, it is
          sent at once, and the retries go on if that fails. An event that the endpoint receives in the
          meantime is not sent twice.
        </p>
        <Scope plan={plan} />
        <Targets targets={plan.targets} />
        <LeftOut plan={plan} />
        <input type="hidden" name={RESEND_ID_FIELD} value={resendId} />
        <input type="hidden" name={QUERY_FIELD} value={String(new URLSearchParams(parametersOf(plan)))} />
      </>
    ),
  });
}

/** Why the filters in the address were not accepted, in the words of the list whose fields they come from. */
function FilterProblem(): VNode {
  const { rejected } = usePage();
  for (const [name, label] of Object.entries({ ...FILTERS, start: 'From', end: 'To' }))
    rejected?.labels.add(name, label, false);
  return <FormProblem />;
}

/** The list of events as it was, if the user came from there. */
function cameFrom(environment: PlatformEnvironment, query: PageVisit['query']): Page['parent'] {
  const { from, selected: _, ...filters } = query;
  const given = Object.entries(filters).filter(
    (filter): filter is [string, string] => typeof filter[1] === 'string',
  );
  return from === FROM_EVENTS.from
    ? { title: 'Events', path: pathWith(dashboardPath(environment, 'events'), Object.fromEntries(given), {}) }
    : undefined;
}

/** The list that shows the failed deliveries. */
function failedDeliveries(
  environment: PlatformEnvironment,
  plan: ResendPlan | undefined,
): NonNullable<Page['parent']> {
  const { selected: _, ...filters } = plan ? parametersOf(plan) : {};
  const parameters = { type: 'webhook', outcome: 'failure', ...(plan?.period ? {} : { period: '7d' }) };
  return {
    title: 'Failed deliveries',
    path: pathWith(dashboardPath(environment, 'request-logs'), { ...parameters, ...filters }, {}),
  };
}

/** Returns the parameters that find the same deliveries again. */
function parametersOf({ query, period }: ResendPlan): Record<string, string> {
  if (query.selected !== undefined) return { selected: query.selected };
  const filters = appliedFilters(query).map(([name, value]) => [name, value]);
  return {
    ...(Object.fromEntries(filters) as Record<string, string>),
    ...(query.endpoint_id !== undefined && { endpoint_id: query.endpoint_id }),
    // Exactly the period of the plan: rounded, it could be longer than the longest one that is accepted.
    ...(period && { start: period.start.toISOString(), end: period.end.toISOString() }),
  };
}

function appliedFilters(query: ResendPlan['query']): [FilterName, string][] {
  return (Object.keys(FILTERS) as FilterName[]).flatMap((name) =>
    query[name] === undefined ? [] : [[name, String(query[name])]],
  );
}

interface PlanProps {
  readonly plan: ResendPlan;
}

function Scope({ plan }: PlanProps): VNode {
  const { environment } = usePage();
  const { query, period, isCut } = plan;
  return (
    <>
      <Details
        entries={[
          [
            'Deliveries',
            period ? (
              <span key="period">
                Failed from <Moment time={period.start} /> to <Moment time={period.end} />
              </span>
            ) : (
              'Those that you selected'
            ),
          ],
          ...appliedFilters(query).map(([name, value]) => [FILTERS[name], value] as const),
        ]}
      />
      {isCut && period ? (
        <p>
          There are more failed deliveries than one form sends again: these are the newest.{' '}
          <a
            href={pathWith(resendPath(environment), parametersOf(plan), {
              start: query.start,
              end: period.start.toISOString(),
            })}
          >
            Earlier deliveries
          </a>
        </p>
      ) : null}
    </>
  );
}

function Targets({ targets }: { readonly targets: readonly ResendTarget[] }): VNode {
  return (
    <>
      <Table
        caption="Endpoints"
        rows={targets}
        keyOf={({ endpoint }) => endpoint.id}
        columns={[
          {
            title: 'Endpoint',
            kind: 'main',
            cell: ({ endpoint: { id, url, environment } }) => (
              <a href={endpointPath(environment, id)}>
                <Middle text={url} />
              </a>
            ),
          },
          { title: 'Status', kind: 'status', cell: ({ endpoint }) => <EndpointStatus endpoint={endpoint} /> },
          { title: 'Deliveries', kind: 'number', cell: ({ eventIds }) => inDigits(eventIds.length) },
        ]}
      />
      {targets.some(({ endpoint }) => endpoint.status === 'paused') ? (
        <p>What is sent to a paused endpoint waits until you resume it.</p>
      ) : null}
    </>
  );
}

/** Says which deliveries are not sent, and why. */
function LeftOut({ plan: { leftOut } }: PlanProps): VNode | null {
  const reasons: [number, string][] = [
    [leftOut.received, 'received by the endpoint'],
    [leftOut.sending, 'being sent now'],
    [
      leftOut.impossible,
      'tests, events that the endpoint is not subscribed to or that are no longer stored, and disabled endpoints',
    ],
  ];
  const shown = reasons.filter(([count]) => count > 0);
  if (shown.length === 0) return null;
  return (
    <>
      <p>Left out:</p>
      <ul>
        {shown.map(([count, reason]) => (
          <li key={reason}>{`${numberOf(count, 'delivery', 'deliveries')}: ${reason}`}</li>
        ))}
      </ul>
    </>
  );
}

function Nothing({ plan }: PlanProps): VNode {
  const isUnselected = plan.period === undefined && sum(Object.values(plan.leftOut)) === 0;
  return (
    <>
      <FormProblem />
      <EmptyState
        title={isUnselected ? 'No failed delivery is selected' : 'No failed delivery can be sent again'}
      >
        <p>
          {isUnselected
            ? 'Select failed deliveries in the list.'
            : 'Each of them was received since, is being sent, or cannot be sent.'}
        </p>
      </EmptyState>
      <Scope plan={plan} />
      <LeftOut plan={plan} />
    </>
  );
}

/** Shows how far a resend is. */
export function resendPage(environment: PlatformEnvironment, resend: Resend): Page {
  const { parts, isFinished } = resend;
  const total = (name: 'selected' | 'handled'): number => sum(parts.map((part) => part[name]));
  const [first] = parts;
  return {
    title: 'Failed deliveries sent again',
    parent: { title: 'Events', path: dashboardPath(environment, 'events') },
    content: (
      <>
        <Done messages={{ started: 'The deliveries are being sent again. The progress is shown below.' }} />
        <Results canBeLive={!isFinished}>
          <p>
            <Badge tone={isFinished ? 'good' : 'warn'}>{isFinished ? 'All queued' : 'Queuing'}</Badge>{' '}
            {`${inDigits(total('handled'))} of ${numberOf(total('selected'), 'delivery', 'deliveries')} queued or skipped. `}
            {first ? (
              <>
                Started <RelativeTime time={first.requestedAt} />.
              </>
            ) : null}
          </p>
          <progress
            aria-label="Deliveries queued or skipped"
            max={total('selected')}
            value={total('handled')}
          />
          <Parts resend={resend} />
          {isFinished ? null : <p class="hint">Without live updates, reload the page to see the progress.</p>}
        </Results>
        <p>
          A queued delivery is attempted as soon as the endpoint has room. A delivery is skipped if the
          endpoint has received the event since, if it is being sent already, or if it can no longer be sent:
          the endpoint was disabled, or the event is no longer stored.
        </p>
        {first ? <Link to={attemptsSince(environment, first.requestedAt)}>Attempts since then</Link> : null}
      </>
    ),
  };
}

function Parts({ resend: { parts } }: { readonly resend: Resend }): VNode {
  const { environment } = usePage();
  return (
    <Table
      caption="Endpoints"
      rows={parts}
      keyOf={({ endpointId }) => endpointId}
      columns={[
        {
          title: 'Endpoint',
          kind: 'main',
          cell: ({ endpointId, endpoint }): ComponentChildren => (
            <a href={endpointPath(environment, endpointId)}>
              <Middle text={endpoint?.url ?? endpointId} />
            </a>
          ),
        },
        { title: 'Deliveries', kind: 'number', cell: ({ selected }) => inDigits(selected) },
        { title: 'Queued', kind: 'number', cell: ({ queued }) => inDigits(queued) },
        { title: 'Skipped', kind: 'text', cell: (part) => skippedOf(part) },
      ]}
    />
  );
}

/** Returns how many deliveries were not queued, and why. */
function skippedOf({ handled, queued, received, sending }: Resend['parts'][number]): string {
  const reasons: [number, string][] = [
    [received, 'received since'],
    [sending, 'being sent already'],
    [handled - queued - received - sending, 'no longer possible'],
  ];
  const shown = reasons.filter(([count]) => count > 0);
  return shown.map(([count, reason]) => `${inDigits(count)} ${reason}`).join(', ') || 'None';
}

function attemptsSince(environment: PlatformEnvironment, time: Date): string {
  return pathWith(
    dashboardPath(environment, 'request-logs'),
    { type: 'webhook', start: time.toISOString() },
    {},
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function numberOf(count: number, one: string, many: string): string {
  return `${inDigits(count)} ${count === 1 ? one : many}`;
}
