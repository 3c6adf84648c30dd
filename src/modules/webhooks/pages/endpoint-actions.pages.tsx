import type { VNode } from 'preact';
import { EVENT_NAMES } from '../../../infrastructure/event-catalog/index.js';
import {
  Allowed,
  Badge,
  dashboardPath,
  Details,
  Done,
  Form,
  FormProblem,
  Moment,
  Notice,
  RelativeTime,
  Results,
  SelectField,
  TimeField,
  ZoneField,
  usePage,
  type Page,
  SubmitButton,
} from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import {
  type OwnedWebhookEndpoint,
  type WebhookEndpointResponse,
  AttemptResult,
  endpointPath,
} from '../../webhook-endpoints/index.js';
import type { RecoveryResponse, TestedWebhookEndpointResponse } from '../deliveries/deliveries.dto.js';

/** The form, below the result of the test that was just sent. */
export function testPage(
  { id, url, disabledAt, client }: OwnedWebhookEndpoint,
  event?: string,
  result?: TestedWebhookEndpointResponse,
): Page {
  const path = endpointPath(client.environment, id);
  return {
    title: 'Send a test',
    parent: { title: url, path },
    content: (
      <>
        <FormProblem />
        {result ? (
          <>
            <Notice kind={result.received ? 'good' : 'bad'}>{result.message}</Notice>
            <Details
              entries={[
                [
                  'Result',
                  <AttemptResult key="result" statusCode={result.status_code} reason={result.reason} />,
                ],
                ['Duration', `${result.latency_ms} ms`],
                [
                  'Event',
                  <a key="event" href={dashboardPath(client.environment, 'events', result.event_id)}>
                    What was sent, and the response
                  </a>,
                ],
              ]}
            />
          </>
        ) : null}
        {result?.received ? (
          <p>
            The receiver works.{' '}
            {disabledAt ? (
              <>
                Go back to the <a href={path}>endpoint</a> to enable it.
              </>
            ) : (
              <>
                If deliveries failed before, <a href={`${path}/recover`}>recover the events</a> that it has
                missed.
              </>
            )}
          </p>
        ) : null}
        <Form action={`${path}/test`}>
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

export function recoveryPage(props: RecoveryProps): Page {
  const { endpoint, recovery } = props;
  const path = endpointPath(endpoint.environment, endpoint.id);
  return {
    title: 'Recover events',
    parent: { title: endpoint.url, path },
    content: (
      <>
        <Done messages={{ started: 'The recovery was started. Its progress is shown below.' }} />
        <p>
          After an outage of your receiver, a recovery sends the events again that the endpoint has not
          received since a time that you choose. It does not send events that the endpoint has received, or
          events that are still waiting: the service retries those automatically.
        </p>
        <Results canBeLive={recovery.status === 'running'}>
          <LastRecovery {...props} />
          <Allowed operation="recoverWebhooks">
            <NextRecovery {...props} />
          </Allowed>
        </Results>
      </>
    ),
  };
}

function LastRecovery({ endpoint, recovery }: RecoveryProps): VNode {
  const { status, since, queued, requested_at: requestedAt, finished_at: finishedAt } = recovery;
  if (status === 'none') return <p>There has been no recovery of this endpoint yet.</p>;
  return (
    <>
      <h2>Last recovery</h2>
      <Details
        entries={[
          [
            'State',
            <Badge key="state" tone={status === 'running' ? 'warn' : 'good'}>
              {status === 'running' ? 'Running' : 'Finished'}
            </Badge>,
          ],
          ['Events since', since && <Moment key="since" time={since} />],
          ['Events queued', String(queued)],
          ['Requested', requestedAt && <RelativeTime key="requested" time={requestedAt} />],
          ['Finished', finishedAt && <RelativeTime key="finished" time={finishedAt} />],
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
      <h2>Start a recovery</h2>
      <TimeField
        name="since"
        label="Send missed events since"
        hint="If in doubt, choose an earlier time: only events that were not received are sent."
        value={since ?? (lastSuccess && lastSuccess < dayAgo ? lastSuccess : dayAgo)}
        showsProblem
      />
      <ZoneField />
      {status === 'paused' ? <p>The endpoint is paused: recovered events wait until you resume it.</p> : null}
      <SubmitButton>Recover events</SubmitButton>
    </Form>
  );
}
