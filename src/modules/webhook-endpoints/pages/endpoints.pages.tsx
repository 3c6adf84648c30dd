import { Controller, Inject } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import { AccessibleClients } from '../../../infrastructure/auth/index.js';
import { EVENT_NAMES, EVENTS } from '../../../infrastructure/event-catalog/index.js';
import { hasPrivateAddress } from '../../../infrastructure/http-client/index.js';
import {
  Allowed,
  ButtonLink,
  Checkboxes,
  CodeBlock,
  ConfirmPage,
  FormPage,
  inEachEnvironment,
  inPercent,
  Link,
  ListPage,
  SelectField,
  Sparkline,
  TextArea,
  TextField,
  usePage,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type PageVisit,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import { RequestLogOverviewService, type Trend } from '../../request-logs/index.js';
import { MAX_ENDPOINTS, type WebhookEndpoint } from '../webhook-endpoint.entity.js';
import {
  CreateWebhookEndpointRequest,
  UpdateWebhookEndpointRequest,
  type WebhookEndpointResponse,
} from '../webhook-endpoints.dto.js';
import { WebhookEndpointsService } from '../webhook-endpoints.service.js';
import { HeaderLinesField, headersIn, mergeHeaders } from '../own-headers.js';
import { endpointList, endpointPath, EndpointStatus, pageOfEndpoint } from './endpoint-parts.pages.js';
import { keyPage, SIGNING_OPTIONS } from './endpoint-signing.pages.js';
import { ENDPOINT_PERMISSIONS } from '../webhook-endpoints.capability.js';

@Controller(inEachEnvironment('webhook-endpoints'))
class EndpointsPage extends ListPage(ENDPOINT_PERMISSIONS.listWebhookEndpoints) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;
  @Inject() private readonly clients!: AccessibleClients;
  @Inject() private readonly overviews!: RequestLogOverviewService;

  async describe({ actor, environment }: PageVisit): Promise<ListDescription<WebhookEndpointResponse>> {
    const { title, path } = endpointList(environment);
    const { data } = await this.endpoints.list(actor, environment);
    const targets = data.map(({ id }) => id);
    const client = await this.clients.forEnvironment(actor, environment);
    const trends = await this.overviews.trends({ client, period: '24h', targets });
    return {
      title,
      actions: (
        <Allowed permission={ENDPOINT_PERMISSIONS.createWebhookEndpoint}>
          {data.length < MAX_ENDPOINTS ? (
            <ButtonLink to={`${path}/new`}>Create endpoint</ButtonLink>
          ) : (
            <p>{`This environment has the maximum of ${MAX_ENDPOINTS} endpoints.`}</p>
          )}
        </Allowed>
      ),
      messages: { deleted: 'The endpoint was deleted.' },
      rows: async () => ({ data }),
      columns: [
        {
          title: 'Endpoint',
          kind: 'main',
          cell: ({ url }) => url,
          to: ({ id }) => endpointPath(environment, id),
        },
        { title: 'Description', kind: 'id', isSecondLine: true, cell: ({ description }) => description },
        { title: 'Status', kind: 'status', cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
        {
          title: 'Last 24 hours',
          kind: 'id',
          isOnDeskOnly: true,
          cell: ({ id }) => trendOf(trends?.get(id)),
        },
        { title: 'Last success', kind: 'time', cell: ({ health }) => health.last_success_at ?? 'Never' },
        {
          title: 'Failures',
          kind: 'number',
          isOnWideOnly: true,
          cell: ({ health }) => health.consecutive_failures,
        },
        { title: 'Events', kind: 'short', isOnWideOnly: true, cell: subscriptionOf },
      ],
      empty: {
        title: 'No webhook endpoints yet',
        text: (
          <>
            <p>
              {`An endpoint is an https URL of yours. The service sends it the events of the ${environment} ` +
                'environment as they happen, such as a card that was updated.'}
            </p>
            {environment === 'development' ? (
              <CodeBlock title="Receive events on your machine, without an endpoint" code="npx mcs listen" />
            ) : null}
            <Link to="/docs/webhooks">Learn how to build a receiver</Link>
          </>
        ),
      },
    };
  }
}

function trendOf(trend: Trend | undefined): ComponentChildren {
  if (!trend) return 'Not available';
  const delivered = total(trend.succeeded);
  const failed = total(trend.failed);
  return (
    <>
      <Sparkline {...trend} things={['delivered', 'the last 24 hours']} />{' '}
      {delivered + failed === 0 ? 'None' : inPercent(delivered / (delivered + failed))}
    </>
  );
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

function subscriptionOf({ events }: WebhookEndpointResponse): ComponentChildren {
  if (!events) return 'All events';
  return events.length === 1 ? events[0] : `${events.length} events`;
}

class NewEndpointForm extends CreateWebhookEndpointRequest {
  @HeaderLinesField()
  header_lines?: string;
}

@Controller(inEachEnvironment('webhook-endpoints/new'))
class NewEndpointPage extends FormPage(ENDPOINT_PERMISSIONS.createWebhookEndpoint, NewEndpointForm) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;

  describe({ actor, environment }: PageVisit): FormDescription<NewEndpointForm> {
    return {
      title: `Create an endpoint for ${environment}`,
      parent: endpointList(environment),
      fields: (
        <>
          <Fields events={[]} headers={[]} />
          <SelectField
            name="signing"
            label="Signing key"
            hint="With a key of its own, your receiver needs no credential of the API. With a key pair, it holds only the public key."
            options={SIGNING_OPTIONS}
          />
          <SelectField
            name="status"
            label="When to start"
            options={[
              { value: 'enabled', label: 'Send events as soon as they happen' },
              { value: 'paused', label: 'Create it paused: events wait until you resume' },
            ]}
          />
        </>
      ),
      button: 'Create endpoint',
      perform: async ({ header_lines: lines, ...request }) => {
        const headers = mergeHeaders({}, headersIn(lines) ?? {});
        const endpoint = await this.endpoints.create(actor, { ...request, headers });
        if (endpoint.signing_key !== undefined) return keyPage(endpoint, 'created');
        return { redirectTo: `${endpointPath(environment, endpoint.id)}?done=created` };
      },
    };
  }
}

class EditEndpointForm extends UpdateWebhookEndpointRequest {
  @HeaderLinesField()
  header_lines?: string;
}

@Controller(inEachEnvironment('webhook-endpoints/:id/edit'))
class EditEndpointPage extends FormPage(ENDPOINT_PERMISSIONS.updateWebhookEndpoint, EditEndpointForm) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;

  async describe(visit: PageVisit<'id'>): Promise<FormDescription<EditEndpointForm, ShownEndpoint>> {
    const { actor, environment, params } = visit;
    const { headerNames, ...stored } = await this.endpoints.requireIn(visit, params.id);
    const endpoint = { ...stored, header_names: headerNames };
    const path = endpointPath(environment, endpoint.id);
    return {
      title: 'Edit endpoint',
      parent: pageOfEndpoint(environment, endpoint),
      subject: endpoint,
      shows: versionOf,
      values: endpoint,
      fields: (
        <>
          <p>A new URL also gets the events that are already waiting.</p>
          <Fields events={endpoint.events ?? []} headers={headerNames} />
        </>
      ),
      button: 'Save changes',
      // Empty fields remove the value. In a request, absent ones would keep it.
      perform: ({ url, description = null, events = null, header_lines: lines }, check) => {
        const headers = headersIn(lines) ?? {};
        return this.endpoints.update(actor, endpoint.id, { url, description, events, headers }, check);
      },
      next: `${path}?done=saved`,
    };
  }
}

type ShownEndpoint = Pick<WebhookEndpointResponse, 'url' | 'description' | 'events' | 'header_names'>;

/** The values that the form changes. */
function versionOf({ url, description, events, header_names: headers }: ShownEndpoint): ShownValues {
  return {
    URL: url,
    Description: description ?? 'none',
    'Events to send': events?.join(', ') ?? 'all',
    'Own headers': headers.length > 0 ? headers.join(', ') : 'none',
  };
}

interface FieldsProps {
  /** The selected events; none means all. */
  readonly events: readonly string[];
  /** The names of the headers that the endpoint has. */
  readonly headers: readonly string[];
}

function Fields({ events, headers }: FieldsProps): VNode {
  return (
    <>
      <TextField
        name="url"
        required
        label="URL"
        hint="A public https URL with a host name, such as https://hooks.example.com/merchants"
      />
      <ForwardCommand />
      <TextField name="description" label="Description (optional)" hint="What you use the endpoint for" />
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
      <TextArea
        name="header_lines"
        label="Your own headers (optional)"
        rows={3}
        hint={
          headers.length > 0
            ? `Present: ${headers.join(', ')}. Their values are not shown. If you change the host or port of the URL, they are removed: enter those that the new receiver should get. Lines such as “X-Api-Key: value” add or replace headers, and “X-Api-Key:” removes one.`
            : 'Lines such as “X-Api-Key: value”, for a gateway before your receiver. Values are stored encrypted, and never shown again.'
        }
      />
    </>
  );
}

/** URLs that the command can contain without quotes. */
const SIMPLE_URL = /^https?:\/\/[\w.:/[\]-]+$/;

/** How to receive events at the URL that was refused, if it is on the user's machine or network. */
function ForwardCommand(): VNode | null {
  const url = usePage().rejected?.form?.get('url')?.trim() ?? '';
  if (!SIMPLE_URL.test(url) || !(isLocalhost(url) || hasPrivateAddress(url))) return null;
  return (
    <CodeBlock
      title="The service cannot reach your machine. To receive the events of development there, run:"
      code={`npx mcs listen --forward-to ${url}`}
    />
  );
}

const isLocalhost = (url: string): boolean => /^https?:\/\/(?:[\w-]+\.)*localhost(?=[:/]|$)/i.test(url);

@Controller(inEachEnvironment('webhook-endpoints/:id/delete'))
class DeleteEndpointPage extends ConfirmPage(ENDPOINT_PERMISSIONS.deleteWebhookEndpoint) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation<WebhookEndpoint>> {
    const { actor, environment, params } = visit;
    const endpoint = await this.endpoints.requireIn(visit, params.id);
    return {
      title: 'Delete this endpoint?',
      parent: pageOfEndpoint(environment, endpoint),
      subject: endpoint,
      shows: (current) => versionOf({ ...current, header_names: current.headerNames }),
      text:
        'The service stops sending events to this URL, and drops those that are waiting. You cannot undo this. To stop ' +
        'deliveries for a while, pause the endpoint instead. The request log keeps the earlier deliveries.',
      button: 'Delete endpoint',
      perform: (_, check) => this.endpoints.delete(actor, endpoint.id, check),
      next: `${endpointList(environment).path}?done=deleted`,
    };
  }
}

export const ENDPOINT_PAGES = [EndpointsPage, NewEndpointPage, EditEndpointPage, DeleteEndpointPage];
