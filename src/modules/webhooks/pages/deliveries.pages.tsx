import { randomUUID } from 'node:crypto';
import type { VNode } from 'preact';
import { Controller, Get, Post } from '@nestjs/common';
import { EVENT_NAMES } from '../../../infrastructure/event-catalog/index.js';
import {
  Allowed,
  Badge,
  dashboardPath,
  Details,
  Form,
  FormProblem,
  inMilliseconds,
  Moment,
  Notice,
  Results,
  Seen,
  SelectField,
  TimeField,
  ZoneField,
  usePage,
  SubmitButton,
  DashboardAction,
  DashboardPage,
  inEachEnvironment,
  queryFrom,
  requestFrom,
  submitted,
  timestampFrom,
  Visit,
  requireUnchanged,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { OutsideOrganizationQueue } from '../../../infrastructure/surfaces/index.js';
import {
  AttemptResult,
  endpointPath,
  pageOfEndpoint,
  EndpointPipe,
  WebhookEndpointsService,
  type OwnedWebhookEndpoint,
  type WebhookEndpointResponse,
  type EndpointVisit,
} from '../../webhook-endpoints/index.js';
import {
  RecoverRequest,
  TestWebhookEndpointRequest,
  type RecoveryResponse,
  type TestedWebhookEndpointResponse,
} from '../deliveries.dto.js';
import { DeliveriesService } from '../deliveries/deliveries.service.js';
import { ResendQuery } from '../resends/resends.dto.js';
import { ResendsService } from '../resends/resends.service.js';
import { endpointsOf, QUERY_FIELD, RESEND_ID_FIELD, resendPage, resendPlanPage } from './resend.pages.js';
import { addressOf, REQUEST_LOG_PERMISSIONS } from '../../request-logs/index.js';
import { DELIVERY_PERMISSIONS } from '../webhooks.capability.js';

@Controller(inEachEnvironment())
export class DeliveryPage {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly resends: ResendsService,
  ) {}

  @Get('webhook-endpoints/:id/test')
  @DashboardPage(DELIVERY_PERMISSIONS.testWebhookEndpoint)
  startTest(@Visit(EndpointPipe) { endpoint, query }: EndpointVisit): PageResponse {
    return testPage(endpoint, typeof query['event'] === 'string' ? query['event'] : undefined);
  }

  @Post('webhook-endpoints/:id/test')
  @DashboardAction(DELIVERY_PERMISSIONS.testWebhookEndpoint)
  @OutsideOrganizationQueue()
  test(@Visit(EndpointPipe) { actor, endpoint, form }: EndpointVisit): Promise<PageResponse> {
    return submitted(
      async () => {
        const { event } = requestFrom(TestWebhookEndpointRequest, form);
        requireUnchanged(form, addressOf(endpoint.url));
        return testPage(endpoint, event, await this.deliveries.test(actor, endpoint.id, event));
      },
      () => testPage(endpoint),
    );
  }

  @Get('webhook-endpoints/:id/recover')
  @DashboardPage(DELIVERY_PERMISSIONS.getWebhookRecovery)
  async startRecovering(
    @Visit(EndpointPipe) { actor, params: { id } }: EndpointVisit,
    since?: string,
  ): Promise<PageResponse> {
    const endpoint = await this.endpoints.get(actor, id);
    return recoveryPage({ endpoint, recovery: await this.resends.lastRecovery(actor, id), since });
  }

  @Post('webhook-endpoints/:id/recover')
  @DashboardAction(DELIVERY_PERMISSIONS.recoverWebhooks)
  recover(@Visit(EndpointPipe) visit: EndpointVisit): Promise<PageResponse> {
    const { actor, environment, endpoint, form } = visit;
    const since = form.get('since');
    return submitted(
      async () => {
        const request = requestFrom(RecoverRequest, form, { since: timestampFrom(since, form.get('zone')) });
        requireUnchanged(form, addressOf(endpoint.url));
        await this.resends.recover(actor, endpoint.id, new Date(request.since));
        return { redirectTo: `${endpointPath(environment, endpoint.id)}/recover?done=started&live=on` };
      },
      () => this.startRecovering(visit, since),
    );
  }

  @Get('events/failed/send-again')
  @DashboardPage(REQUEST_LOG_PERMISSIONS.redeliverWebhook)
  plan(@Visit() visit: PageVisit): Promise<PageResponse> {
    return submitted(
      () => this.planPage(visit, visit.query),
      () => resendPlanPage(visit.environment, undefined, '', visit.query),
    );
  }

  @Post('events/failed/send-again')
  @DashboardAction(REQUEST_LOG_PERMISSIONS.redeliverWebhook)
  start(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { environment, form } = visit;
    const query = Object.fromEntries(new URLSearchParams(form.get(QUERY_FIELD)));
    const id = form.get(RESEND_ID_FIELD) ?? '';
    return submitted(
      async () => {
        await this.resends.start(visit, id, resendQuery(visit, query), (plan) =>
          requireUnchanged(form, endpointsOf(plan)),
        );
        return { redirectTo: `${dashboardPath(environment, 'events', 'resends', id)}?done=started&live=on` };
      },
      () => this.planPage(visit, query),
    );
  }

  @Get('events/resends/:id')
  @DashboardPage(DELIVERY_PERMISSIONS.getWebhookRecovery)
  async get(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    return resendPage(visit.environment, await this.resends.get(visit, visit.params.id));
  }

  private async planPage(visit: PageVisit, query: PageVisit['query']): Promise<PageResponse> {
    const plan = await this.resends.plan(visit, resendQuery(visit, query));
    return resendPlanPage(visit.environment, plan, randomUUID(), visit.query);
  }
}

function resendQuery({ environment }: PageVisit, query: PageVisit['query']): ResendQuery {
  const { selected, from: _, ...filters } = query;
  // A list sends one parameter for each selected row.
  const selection = selected === undefined ? {} : { selected: [selected].flat().join(',') };
  return queryFrom(ResendQuery, filters, { environment, ...selection });
}

/** The form, below the result of the test that was just sent. */
function testPage(
  endpoint: OwnedWebhookEndpoint,
  event?: string,
  result?: TestedWebhookEndpointResponse,
): Page {
  const { url, disabledAt, client } = endpoint;
  const parent = pageOfEndpoint(client.environment, endpoint);
  const { path } = parent;
  return {
    title: 'Send a test',
    parent,
    content: (
      <>
        <FormProblem />
        {result && (
          <>
            <Notice kind={result.received ? 'good' : 'bad'}>{result.message}</Notice>
            <Details
              entries={[
                ['Result', <AttemptResult statusCode={result.status_code} reason={result.reason} />],
                ['Duration', inMilliseconds(result.latency_ms)],
                [
                  'Event',
                  <a href={dashboardPath(client.environment, 'events', result.event_id)}>
                    What was sent, and the response
                  </a>,
                ],
              ]}
            />
          </>
        )}
        {result?.received && disabledAt ? (
          <p>
            The receiver works. Go back to the <a href={path}>endpoint</a> to enable it.
          </p>
        ) : null}
        {result?.received && !disabledAt ? (
          <p>
            The receiver works. If deliveries failed before,{' '}
            <a href={`${path}/recover`}>recover the events</a> that it has missed.
          </p>
        ) : null}
        <Form action={`${path}/test`}>
          <Seen values={addressOf(url)} />
          <p>
            The service sends an example event to <code>{url}</code>, signed like every event, and shows the
            response. It is sent once, even if the endpoint is paused or disabled.
          </p>
          <SelectField
            name="event"
            label="Event"
            options={EVENT_NAMES.map((name) => ({ value: name, label: name }))}
            value={event ?? EVENT_NAMES[0]}
          />
          <p class="hint">The test takes up to 10 seconds.</p>
          <SubmitButton>{result ? 'Send another test' : 'Send test'}</SubmitButton>
        </Form>
      </>
    ),
  };
}

interface RecoveryProps {
  readonly endpoint: WebhookEndpointResponse;
  readonly recovery: RecoveryResponse;
  /** The time that was not accepted. */
  readonly since: string | undefined;
}

function recoveryPage(props: RecoveryProps): Page {
  const { endpoint, recovery } = props;
  return {
    title: 'Recover events',
    parent: pageOfEndpoint(endpoint.environment, endpoint),
    messages: { started: 'The recovery was started. Its progress is shown below.' },
    content: (
      <>
        <p>
          After an outage of your receiver, a recovery sends the events again that the endpoint has not
          received since a time that you choose. It does not send events that the endpoint has received, or
          events that are still waiting: the service retries those automatically.
        </p>
        <Results canBeLive={recovery.status === 'running'}>
          {lastRecovery(props)}
          <Allowed permission={DELIVERY_PERMISSIONS.recoverWebhooks}>
            <NextRecovery {...props} />
          </Allowed>
        </Results>
      </>
    ),
  };
}

function lastRecovery({ endpoint, recovery }: RecoveryProps): VNode | null {
  const { status, since, queued, requested_at: requestedAt, finished_at: finishedAt } = recovery;
  if (status === 'none') return null;
  return (
    <>
      <h2>Last recovery</h2>
      <Details
        entries={[
          [
            'State',
            status === 'running' ? <Badge tone="warn">Running</Badge> : <Badge tone="good">Finished</Badge>,
          ],
          ['Events since', since && <Moment key="since" time={since} />],
          ['Events queued', String(queued)],
          ['Requested', requestedAt && <Moment key="requested" time={requestedAt} />],
          ['Finished', finishedAt && <Moment key="finished" time={finishedAt} />],
        ]}
      />
      {status === 'running' ? null : (
        <p>
          {queued === 0 ? 'The recovery found no event to send again.' : 'Check that the events arrived:'}{' '}
          <a href={endpointPath(endpoint.environment, endpoint.id)}>Recent deliveries of the endpoint</a>
        </p>
      )}
    </>
  );
}

/** The form, or why there is none now. */
function NextRecovery({ endpoint, recovery, since }: RecoveryProps): VNode {
  const { now } = usePage();
  const { environment, id, status } = endpoint;
  const { last_success_at: lastSuccess } = endpoint.health;
  const dayAgo = new Date(now.getTime() - DAY);
  const path = endpointPath(environment, id);
  if (recovery.status === 'running') return <p>You can start another recovery when this one has finished.</p>;
  if (status === 'disabled')
    return (
      <p>
        The endpoint is disabled. <a href={path}>Enable it</a> first.
      </p>
    );
  return (
    <Form action={`${path}/recover`}>
      <Seen values={addressOf(endpoint.url)} />
      <h2>Start a recovery</h2>
      <FormProblem />
      <TimeField
        name="since"
        label="Send missed events since"
        hint="If in doubt, choose an earlier time: only events that were not received are sent."
        value={since ?? (lastSuccess && lastSuccess < dayAgo ? lastSuccess : dayAgo)}
      />
      <ZoneField />
      {status === 'paused' ? <p>The endpoint is paused: recovered events wait until you resume it.</p> : null}
      <SubmitButton>Recover events</SubmitButton>
    </Form>
  );
}
