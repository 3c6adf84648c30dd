import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  Badge,
  dashboardPath,
  Details,
  EmptyState,
  Form,
  FormProblem,
  inDigits,
  Link,
  Moment,
  pathWith,
  Results,
  SubmitButton,
  Table,
  Tiles,
  usePage,
  Seen,
  type Column,
  type Page,
  type PageVisit,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import { periodSince } from '../../request-logs/index.js';
import { endpointPath, EndpointStatus } from '../../webhook-endpoints/index.js';
import type { ResendOutcomes, ResendPlan, StartedResend } from '../resends/resends.service.js';

/** The fields of the form that starts a batch of resends. */
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
  external_user_id: 'Customer',
  status_code: 'Status code',
  session_id: 'Session ID',
  task_id: 'Task ID',
  event_id: 'Event ID',
  error_code: 'Error code',
  request_id: 'Request ID',
} as const;

/**
 * Says what would be sent, and asks before it is.
 *
 * @param plan undefined if the filters were not accepted
 * @param batchId of the resends that the form starts
 * @param query the parameters of the link to the plan
 */
export function resendPlanPage(
  environment: PlatformEnvironment,
  plan: ResendPlan | undefined,
  batchId: string,
  query: PageVisit['query'],
): Page {
  const parent = cameFrom(environment, plan, query);
  if (!plan) return { title: 'Send failed deliveries again', parent, content: <FilterProblem /> };
  if (plan.count === 0) return { title: 'Nothing to send again', parent, content: nothingToSend(plan) };
  const deliveries = numberOf(plan.count);
  return {
    title: `Send ${deliveries} again?`,
    parent,
    content: (
      <>
        <FormProblem />
        <Form>
          <p>
            The service sends each of these events once more, with retries. If an event waits for a retry, it
            is sent at once, and the retries go on if that fails. An event that the endpoint receives in the
            meantime is not sent twice.
          </p>
          <Scope {...plan} />
          {targetTable(plan)}
          {leftOutOf(plan)}
          <Seen values={endpointsOf(plan)} />
          <input type="hidden" name={RESEND_ID_FIELD} value={batchId} />
          <input type="hidden" name={QUERY_FIELD} value={String(new URLSearchParams(parametersOf(plan)))} />
          <SubmitButton>{`Send ${deliveries} again`}</SubmitButton>
        </Form>
      </>
    ),
  };
}

/** The endpoints that a plan sends to, as `Seen` shows them. How many deliveries each gets changes all the time. */
export function endpointsOf({ targets }: ResendPlan): ShownValues {
  return { Endpoints: targets.map(({ endpoint }) => endpoint.url).join(', ') };
}

/** Why the filters in the address were not accepted, in the words of the list whose fields they come from. */
function FilterProblem(): VNode {
  const { rejected } = usePage();
  for (const [name, label] of Object.entries({ ...FILTERS, start: 'From', end: 'To' }))
    rejected?.problem.add(name, label);
  return <FormProblem />;
}

/** Returns the list of events as it was, if the user came from there, or the one that shows the failed deliveries. */
function cameFrom(
  environment: PlatformEnvironment,
  plan: ResendPlan | undefined,
  query: PageVisit['query'],
): NonNullable<Page['parent']> {
  const { from, selected: _, ...others } = query;
  const isFromEvents = from === FROM_EVENTS.from;
  const given = Object.entries(others).filter(([, value]) => typeof value === 'string') as [string, string][];
  const filters = isFromEvents ? Object.fromEntries(given) : plan ? parametersOf(plan) : {};
  const list = { type: 'webhook', outcome: 'failure', ...(!plan?.period && { period: '7d' }), ...filters };
  return isFromEvents
    ? { title: 'Events', path: pathWith(dashboardPath(environment, 'events'), filters, {}) }
    : {
        title: 'Failed deliveries',
        path: pathWith(dashboardPath(environment, 'request-logs'), list, { selected: undefined }),
      };
}

/** Returns the parameters that find the same deliveries again. */
function parametersOf({ query, period }: ResendPlan): Record<string, string> {
  const { selected, endpoint_id } = query;
  if (selected !== undefined) return { selected };
  return {
    ...Object.fromEntries(appliedFilters(query)),
    ...(endpoint_id !== undefined && { endpoint_id }),
    // Exactly the period of the plan: rounded, it could be longer than the longest one that is accepted.
    ...(period && { start: period.start.toISOString(), end: period.end.toISOString() }),
  };
}

function appliedFilters(query: ResendPlan['query']): [keyof typeof FILTERS, string][] {
  return (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).flatMap((name) =>
    query[name] === undefined ? [] : [[name, String(query[name])]],
  );
}

function Scope(plan: ResendPlan): VNode {
  const { environment } = usePage();
  const { query, period, isCut } = plan;
  const failed = period && (
    <span key="period">
      Failed from <Moment time={period.start} /> to <Moment time={period.end} />
    </span>
  );
  const filters = appliedFilters(query).map(([name, value]) => [FILTERS[name], value] as const);
  const earlier = { start: query.start, end: period?.start.toISOString() };
  return (
    <>
      <Details entries={[['Deliveries', failed ?? 'Those that you selected'], ...filters]} />
      {isCut ? (
        <p>
          There are more failed deliveries than one form sends again: these are the newest.{' '}
          <a href={pathWith(resendPath(environment), parametersOf(plan), earlier)}>Earlier deliveries</a>
        </p>
      ) : null}
    </>
  );
}

function targetTable({ targets }: ResendPlan): VNode {
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
            cell: ({ endpoint }) => endpoint.url,
            to: ({ endpoint }) => endpointPath(endpoint.environment, endpoint.id),
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
function leftOutOf({ leftOut }: ResendPlan): VNode | null {
  const reasons = [
    [leftOut.received, 'received by the endpoint'],
    [leftOut.sending, 'being sent now'],
    [
      leftOut.impossible,
      'tests, events that the endpoint is not subscribed to or that are no longer stored, and disabled endpoints',
    ],
  ] as const;
  const shown = reasons.filter(([count]) => count > 0);
  if (shown.length === 0) return null;
  return (
    <>
      <p>Left out:</p>
      <ul>
        {shown.map(([count, reason]) => (
          <li key={reason}>{`${numberOf(count)}: ${reason}`}</li>
        ))}
      </ul>
    </>
  );
}

function nothingToSend(plan: ResendPlan): VNode {
  const isUnselected = !plan.period && Object.values(plan.leftOut).every((count) => count === 0);
  return (
    <>
      <FormProblem />
      {isUnselected ? (
        <EmptyState title="No failed delivery is selected">
          <p>Select failed deliveries in the list.</p>
        </EmptyState>
      ) : (
        <EmptyState title="No failed delivery can be sent again">
          <p>Each of them was received since, is being sent, or cannot be sent.</p>
        </EmptyState>
      )}
      <Scope {...plan} />
      {leftOutOf(plan)}
    </>
  );
}

export function resendPage(
  environment: PlatformEnvironment,
  resends: readonly [StartedResend, ...StartedResend[]],
): Page {
  const [{ requestedAt }] = resends;
  const isFinished = resends.every(({ finishedAt }) => finishedAt !== null);
  const selected = resends.reduce((total, resend) => total + resend.selected, 0);
  const handled = resends.reduce((total, resend) => total + resend.handled, 0);
  const attempts = { type: 'webhook', ...periodSince(requestedAt) };
  const outcomes = totalOf(resends);
  const [tone, state] = !isFinished
    ? (['warn', 'Queuing'] as const)
    : outcomes && outcomes.waiting > 0
      ? (['warn', 'Sending'] as const)
      : (['good', outcomes ? 'Finished' : 'All queued'] as const);
  return {
    title: 'Failed deliveries sent again',
    parent: { title: 'Events', path: dashboardPath(environment, 'events') },
    messages: { started: 'The deliveries are being sent again. The progress is shown below.' },
    content: (
      <>
        <Results canBeLive={tone === 'warn'}>
          <p>
            <Badge tone={tone}>{state}</Badge>{' '}
            {`${inDigits(handled)} of ${numberOf(selected)} queued or skipped. `}
            Started <Moment time={requestedAt} />.
          </p>
          {outcomes ? (
            <>
              <progress
                aria-label="Deliveries that have ended"
                max={selected}
                value={selected - outcomes.waiting}
              />
              <Tiles entries={OUTCOMES.map(([name, label]) => [label, inDigits(outcomes[name])])} />
            </>
          ) : (
            <progress aria-label="Deliveries queued or skipped" max={selected} value={handled} />
          )}
          <Table
            caption="Endpoints"
            rows={resends}
            keyOf={({ endpointId }) => endpointId}
            columns={progressColumns(environment)}
          />
          {tone === 'good' ? null : (
            <p class="hint">Without live updates, reload the page to see the progress.</p>
          )}
        </Results>
        <p>
          A queued delivery is attempted as soon as the endpoint has room. A delivery is not queued if the
          endpoint has received the event since, if it is being sent already, or if it can no longer be sent:
          the endpoint was disabled, or the event is no longer stored. A delivery is skipped if it was never
          attempted, also if the endpoint was disabled, or the user erased, after it was queued.
        </p>
        <Link to={pathWith(dashboardPath(environment, 'request-logs'), attempts, {})}>
          Attempts since then
        </Link>
      </>
    ),
  };
}

const OUTCOMES = [
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
  ['waiting', 'Waiting'],
  ['skipped', 'Skipped'],
] as const;

/** Returns the outcomes of all deliveries; undefined if the outcome of one is unknown. */
function totalOf(resends: readonly StartedResend[]): ResendOutcomes | undefined {
  const total = { delivered: 0, failed: 0, waiting: 0, skipped: 0 };
  for (const { outcomes } of resends) {
    if (!outcomes) return undefined;
    for (const [name] of OUTCOMES) total[name] += outcomes[name];
  }
  return total;
}

/** A column of an outcome, which is empty if the outcome is unknown. */
const outcomeColumn = (name: keyof ResendOutcomes, title: string): Column<StartedResend> => ({
  title,
  kind: 'number',
  cell: ({ outcomes }) => outcomes && inDigits(outcomes[name]),
});

const progressColumns = (environment: PlatformEnvironment): Column<StartedResend>[] => [
  {
    title: 'Endpoint',
    kind: 'main',
    cell: ({ endpointId, endpoint }) => endpoint?.url ?? endpointId,
    to: ({ endpointId }) => endpointPath(environment, endpointId),
  },
  { title: 'Deliveries', kind: 'number', cell: ({ selected }) => inDigits(selected) },
  outcomeColumn('delivered', 'Delivered'),
  outcomeColumn('failed', 'Failed'),
  outcomeColumn('waiting', 'Waiting'),
  { title: 'Not queued', kind: 'text', cell: unqueuedOf },
];

/** Returns how many deliveries were not queued, and why. */
function unqueuedOf({ handled, queued, received, sending }: StartedResend): string {
  const reasons = [
    [received, 'received since'],
    [sending, 'being sent already'],
    [handled - queued - received - sending, 'no longer possible'],
  ] as const;
  const shown = reasons.filter(([count]) => count > 0);
  return shown.map(([count, reason]) => `${inDigits(count)} ${reason}`).join(', ') || 'None';
}

function numberOf(deliveries: number): string {
  return `${inDigits(deliveries)} ${deliveries === 1 ? 'delivery' : 'deliveries'}`;
}
