import type { VNode } from 'preact';
import { Controller, Get, Post } from '@nestjs/common';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  ActionButton,
  Allowed,
  ButtonLink,
  dashboardPath,
  Details,
  EmptyState,
  Moment,
  Notice,
  RelativeTime,
  Table,
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  requestFrom,
  Visit,
  type Page,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { RequestLogsService, unlessBusy, type RequestLogEntryResponse } from '../../request-logs/index.js';
import { EndpointLanes } from '../endpoint-lanes.js';
import { UpdateWebhookEndpointRequest, type WebhookEndpointResponse } from '../webhook-endpoints.dto.js';
import { WebhookEndpointsService } from '../webhook-endpoints.service.js';
import {
  AttemptResult,
  endpointList,
  endpointPath,
  EndpointStatus,
  EndpointPipe,
  type EndpointVisit,
} from './endpoint-parts.pages.js';

/** Events in the queue of the endpoint that are counted. */
const MAX_COUNTED = 1_000;
const SHOWN_ATTEMPTS = 5;

@Controller(inEachEnvironment('webhook-endpoints/:id'))
export class EndpointPageController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly logs: RequestLogsService,
    private readonly lanes: EndpointLanes,
    private readonly clock: Clock,
  ) {}

  @Get()
  @DashboardPage('getWebhookEndpoint')
  async get(
    @Visit(EndpointPipe) { actor, environment, endpoint: { id } }: EndpointVisit,
  ): Promise<PageResponse> {
    const end = this.clock.now();
    const period = { start: new Date(end.getTime() - 7 * DAY).toISOString(), end: end.toISOString() };
    const attempts = { environment, endpoint_id: id, limit: SHOWN_ATTEMPTS, ...period };
    const [endpoint, page, waiting] = await Promise.all([
      this.endpoints.get(actor, id),
      unlessBusy(this.logs.page(actor, attempts)),
      this.lanes.waitingFor(id, MAX_COUNTED),
    ]);
    return endpointPage(endpoint, page?.data, waiting);
  }

  @Post('status')
  @DashboardAction('updateWebhookEndpoint')
  async setStatus(
    @Visit(EndpointPipe) { actor, environment, endpoint, form }: EndpointVisit,
  ): Promise<PageResponse> {
    const { status } = requestFrom(UpdateWebhookEndpointRequest, form);
    await this.endpoints.update(actor, endpoint.id, { status });
    const done = status === 'paused' ? 'paused' : endpoint.disabledAt ? 'enabled' : 'resumed';
    return { redirectTo: `${endpointPath(environment, endpoint.id)}?done=${done}` };
  }
}

const MESSAGES = {
  created: 'The endpoint was created. Send a test to check that your receiver responds.',
  saved: 'The changes were saved.',
  paused: 'Deliveries are paused.',
  resumed: 'Deliveries are resumed.',
  enabled:
    'The endpoint is enabled. Events that it missed while it was disabled are not sent by themselves: choose Recover events.',
};

/**
 * @param attempts the last ones, newest first; undefined if the request log is too busy
 * @param waiting the number of events in the queue
 */
function endpointPage(
  endpoint: WebhookEndpointResponse,
  attempts: readonly RequestLogEntryResponse[] | undefined,
  waiting: number,
): Page {
  const { events, health } = endpoint;
  const { last_success_at: lastSuccess } = health;
  return {
    title: endpoint.url,
    parent: endpointList(endpoint.environment),
    actions: actionsOf(endpoint),
    messages: MESSAGES,
    content: (
      <>
        {situationOf(endpoint)}
        <Details
          entries={[
            ['Status', <EndpointStatus key="status" endpoint={endpoint} />],
            ['Description', endpoint.description],
            ['Events', events ? events.join(', ') : 'All events, including those that are added later'],
            ['Last success', lastSuccess ? <RelativeTime key="success" time={lastSuccess} /> : 'Never'],
            ['Failures in a row', String(health.consecutive_failures)],
            ['Events waiting', waiting >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(waiting)],
            ['URL', <code key="url">{endpoint.url}</code>],
            ['Created', <Moment key="created" time={endpoint.created_at} />],
            ['ID', <code key="id">{endpoint.id}</code>],
          ]}
        />
        {deliveriesTo(endpoint, attempts)}
        {signaturesIn(endpoint.environment)}
      </>
    ),
  };
}

const STATUS_BUTTONS = { enabled: 'Pause', paused: 'Resume', disabled: 'Enable' } as const;

function actionsOf({ id, environment, status }: WebhookEndpointResponse): VNode {
  const path = endpointPath(environment, id);
  return (
    <>
      <ButtonLink operation="testWebhookEndpoint" to={`${path}/test`}>
        Send test
      </ButtonLink>
      <Allowed operation="updateWebhookEndpoint">
        <ButtonLink to={`${path}/edit`} kind="second">
          Edit
        </ButtonLink>
        <ActionButton
          action={`${path}/status`}
          fields={{ status: status === 'enabled' ? 'paused' : 'enabled' }}
        >
          {STATUS_BUTTONS[status]}
        </ActionButton>
      </Allowed>
      <ButtonLink to={`${path}/recover`} kind="second">
        <Allowed operation="recoverWebhooks" otherwise="Last recovery">
          Recover events
        </Allowed>
      </ButtonLink>
      <ButtonLink operation="deleteWebhookEndpoint" to={`${path}/delete`} kind="danger">
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
        <Allowed operation="recoverWebhooks">
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
      <h2>Recent deliveries</h2>
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
                  <RelativeTime time={datetime} />
                </a>
              ),
            },
            {
              title: 'Result',
              kind: 'text',
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

function signaturesIn(environment: PlatformEnvironment): VNode {
  const credentials = `${environment} API credentials`;
  return (
    <>
      <h2>Signatures</h2>
      <p>
        Every delivery is signed with the secret of your{' '}
        <Allowed operation="listApiClients" otherwise={credentials}>
          <a href={dashboardPath(environment, 'api-credentials')}>{credentials}</a>
        </Allowed>
        . Your receiver should <a href="/docs/webhooks#signatures">verify the signature</a>. While you rotate
        the secret, the header <code>webhook-signature</code> has a signature with each of the two secrets,
        and <code>Service-Signature</code> only one.
      </p>
    </>
  );
}
