import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { EVENT_NAMES, EVENTS } from '../../../infrastructure/event-catalog/index.js';
import {
  Allowed,
  ButtonLink,
  Checkboxes,
  confirmationPage,
  Done,
  EmptyState,
  Form,
  FormProblem,
  inPercent,
  Link,
  RelativeTime,
  Seen,
  SelectField,
  Sparkline,
  Table,
  TextField,
  usePage,
  type Page,
  type ShownValues,
  SubmitButton,
} from '../../../infrastructure/pages/index.js';
import type { Trend } from '../../request-logs/index.js';
import { MAX_DESCRIPTION_LENGTH, MAX_ENDPOINTS } from '../webhook-endpoint.entity.js';
import type { OwnedWebhookEndpoint } from '../webhook-endpoints.service.js';
import type { WebhookEndpointResponse } from '../webhook-endpoints.dto.js';
import { endpointList, endpointPath, EndpointStatus } from './endpoint-parts.pages.js';

/** The values of the form. No events means all. */
interface EndpointFields {
  readonly url?: string | undefined;
  readonly description?: string | undefined;
  readonly events: readonly string[];
}

export function endpointsPage(
  environment: PlatformEnvironment,
  endpoints: readonly WebhookEndpointResponse[],
  trends?: ReadonlyMap<string, Trend>,
): Page {
  const { title, path } = endpointList(environment);
  return {
    title,
    actions: endpoints.length === 0 ? null : <CreateButton path={path} count={endpoints.length} />,
    content: (
      <>
        <Done messages={{ deleted: 'The endpoint was deleted.' }} />
        {endpoints.length === 0 ? (
          <EmptyState title="No webhook endpoints yet">
            <p>
              {`An endpoint is an https URL of yours. The service sends it the events of the ${environment} ` +
                'environment as they happen, such as a card that was updated.'}
            </p>
            <Link to="/docs/webhooks">Learn how to build a receiver</Link>
            <CreateButton path={path} count={0} />
          </EmptyState>
        ) : (
          <Endpoints endpoints={endpoints} trends={trends} />
        )}
      </>
    ),
  };
}

function CreateButton({ path, count }: { readonly path: string; readonly count: number }): VNode {
  return (
    <Allowed operation="createWebhookEndpoint">
      {count < MAX_ENDPOINTS ? (
        <ButtonLink to={`${path}/new`}>Create endpoint</ButtonLink>
      ) : (
        <p>{`This environment has the maximum of ${MAX_ENDPOINTS} endpoints.`}</p>
      )}
    </Allowed>
  );
}

interface EndpointsProps {
  readonly endpoints: readonly WebhookEndpointResponse[];
  readonly trends: ReadonlyMap<string, Trend> | undefined;
}

function Endpoints({ endpoints, trends }: EndpointsProps): VNode {
  return (
    <Table
      caption="Webhook endpoints"
      rows={endpoints}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Endpoint',
          kind: 'main',
          cell: ({ url }) => url,
          to: ({ id, environment }) => endpointPath(environment, id),
        },
        { title: 'Description', kind: 'id', cell: ({ description }) => description },
        { title: 'Status', kind: 'status', cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
        {
          title: 'Last 24 hours',
          kind: 'id',
          cell: ({ id }) => {
            const trend = trends?.get(id);
            if (!trend) return 'Not available';
            const [delivered, failed] = [total(trend.succeeded), total(trend.failed)];
            return (
              <>
                <Sparkline {...trend} things={['delivered', 'the last 24 hours']} />{' '}
                {delivered + failed === 0 ? 'None' : inPercent(delivered / (delivered + failed))}
              </>
            );
          },
        },
        {
          title: 'Last success',
          kind: 'time',
          cell: ({ health: { last_success_at: time } }) => (time ? <RelativeTime time={time} /> : 'Never'),
        },
        {
          title: 'Failures',
          kind: 'number',
          cell: ({ health }) => health.consecutive_failures,
        },
        { title: 'Events', kind: 'short', cell: ({ events }) => <Subscription events={events} /> },
      ]}
    />
  );
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

function Subscription({ events }: Pick<WebhookEndpointResponse, 'events'>): ComponentChildren {
  if (!events) return 'All events';
  return events.length === 1 ? events[0] : `${events.length} events`;
}

export function newEndpointPage(environment: PlatformEnvironment): Page {
  const parent = endpointList(environment);
  return {
    title: `Create an endpoint for ${environment}`,
    parent,
    content: (
      <Form action={`${parent.path}/new`}>
        <Fields events={[]} />
        <SelectField
          name="status"
          label="When to start"
          options={[
            { value: 'enabled', label: 'Send events as soon as they happen' },
            { value: 'paused', label: 'Create it paused: events wait until you resume' },
          ]}
        />
        <SubmitButton>Create endpoint</SubmitButton>
      </Form>
    ),
  };
}

/**
 * @param path of the page of the endpoint
 * @param seen the values of the endpoint now
 */
export function editEndpointPage(path: string, fields: EndpointFields, seen: ShownValues): Page {
  return {
    title: 'Edit endpoint',
    parent: { title: 'Endpoint', path },
    content: (
      <Form action={`${path}/edit`}>
        <p>A new URL also gets the events that are already waiting.</p>
        <Seen values={seen} />
        <Fields {...fields} />
        <SubmitButton>Save changes</SubmitButton>
      </Form>
    ),
  };
}

function Fields({ url, description, events }: EndpointFields): VNode {
  const isAboutUrl = /^(?!This was changed).*\burl\b/i.test(usePage().rejected?.problem ?? '');
  return (
    <>
      {isAboutUrl ? null : <FormProblem />}
      <TextField
        name="url"
        label="URL"
        type="url"
        hint="A public https URL with a host name, such as https://hooks.example.com/merchants"
        value={url}
        showsProblem={isAboutUrl}
      />
      <TextField
        name="description"
        label="Description (optional)"
        hint="What you use the endpoint for"
        value={description}
        required={false}
        maxLength={MAX_DESCRIPTION_LENGTH}
      />
      <Checkboxes
        name="events[]"
        legend="Events to send"
        hint="If you select none, all events are sent, including those that are added later."
        options={EVENT_NAMES.map((name) => ({
          value: name,
          label: name,
          // Without the marks of code in Markdown.
          hint: EVENTS[name].description.replaceAll('`', ''),
        }))}
        values={events}
      />
    </>
  );
}

/** @param path of the page of the endpoint */
export function deleteEndpointPage(path: string, { url }: OwnedWebhookEndpoint): Page {
  return confirmationPage({
    title: 'Delete this endpoint?',
    parent: { title: 'Endpoint', path },
    action: `${path}/delete`,
    button: 'Delete endpoint',
    children: (
      <>
        <p>
          <code>{url}</code>
        </p>
        <p>
          The service stops sending events to this URL, and drops those that are waiting. You cannot undo
          this. To stop deliveries for a while, pause the endpoint instead. The request log keeps the earlier
          deliveries.
        </p>
      </>
    ),
  });
}
