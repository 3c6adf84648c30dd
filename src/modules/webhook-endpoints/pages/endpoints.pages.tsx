import { Controller, Inject } from '@nestjs/common';
import type { ComponentChildren, VNode } from 'preact';
import { AccessibleClients } from '../../../infrastructure/auth/index.js';
import { EVENT_NAMES, EVENTS } from '../../../infrastructure/event-catalog/index.js';
import {
  Allowed,
  ButtonLink,
  Checkboxes,
  ConfirmPage,
  FormPage,
  inEachEnvironment,
  inPercent,
  Link,
  ListPage,
  requireUnchanged,
  SelectField,
  Sparkline,
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
import { endpointList, endpointPath, EndpointStatus } from './endpoint-parts.pages.js';

@Controller(inEachEnvironment('webhook-endpoints'))
class EndpointsPage extends ListPage('listWebhookEndpoints') {
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
        <Allowed operation="createWebhookEndpoint">
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
        { title: 'Description', kind: 'id', cell: ({ description }) => description },
        { title: 'Status', kind: 'status', cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
        { title: 'Last 24 hours', kind: 'id', cell: ({ id }) => trendOf(trends?.get(id)) },
        { title: 'Last success', kind: 'time', cell: ({ health }) => health.last_success_at ?? 'Never' },
        { title: 'Failures', kind: 'number', cell: ({ health }) => health.consecutive_failures },
        { title: 'Events', kind: 'short', cell: subscriptionOf },
      ],
      empty: {
        title: 'No webhook endpoints yet',
        text: (
          <>
            <p>
              {`An endpoint is an https URL of yours. The service sends it the events of the ${environment} ` +
                'environment as they happen, such as a card that was updated.'}
            </p>
            <Link to="/docs/webhooks">Learn how to build a receiver</Link>
          </>
        ),
      },
    };
  }
}

function trendOf(trend: Trend | undefined): ComponentChildren {
  if (!trend) return 'Not available';
  const [delivered, failed] = [total(trend.succeeded), total(trend.failed)];
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

@Controller(inEachEnvironment('webhook-endpoints/new'))
class NewEndpointPage extends FormPage('createWebhookEndpoint', CreateWebhookEndpointRequest) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;

  describe({ actor, environment }: PageVisit): FormDescription<CreateWebhookEndpointRequest> {
    return {
      title: `Create an endpoint for ${environment}`,
      parent: endpointList(environment),
      fields: (
        <>
          <Fields events={[]} />
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
      perform: async (request) => {
        const { id } = await this.endpoints.create(actor, request);
        return { redirectTo: `${endpointPath(environment, id)}?done=created` };
      },
    };
  }
}

@Controller(inEachEnvironment('webhook-endpoints/:id/edit'))
class EditEndpointPage extends FormPage('updateWebhookEndpoint', UpdateWebhookEndpointRequest) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;

  async describe(visit: PageVisit<'id'>): Promise<FormDescription<UpdateWebhookEndpointRequest>> {
    const { actor, environment, params, form } = visit;
    const endpoint = await this.endpoints.requireIn(visit, params.id);
    const path = endpointPath(environment, endpoint.id);
    return {
      title: 'Edit endpoint',
      parent: { title: endpoint.url, path },
      version: versionOf(endpoint),
      values: endpoint,
      fields: (
        <>
          <p>A new URL also gets the events that are already waiting.</p>
          <Fields events={endpoint.events ?? []} />
        </>
      ),
      button: 'Save changes',
      // Empty fields remove the value. In a request, absent ones would keep it.
      perform: ({ url, description = null, events = null }) =>
        this.endpoints.update(actor, endpoint.id, { url, description, events }, (current) =>
          requireUnchanged(form, versionOf(current)),
        ),
      next: `${path}?done=saved`,
    };
  }
}

/** What the form changes. */
function versionOf({ url, description, events }: WebhookEndpoint): ShownValues {
  return { URL: url, Description: description ?? 'none', 'Events to send': events?.join(', ') ?? 'all' };
}

/** @param events the selected ones; none means all */
function Fields({ events }: { readonly events: readonly string[] }): VNode {
  const isAboutUrl = /^(?!This was changed).*\burl\b/i.test(usePage().rejected?.problem ?? '');
  return (
    <>
      <TextField
        name="url"
        required
        label="URL"
        hint="A public https URL with a host name, such as https://hooks.example.com/merchants"
        showsProblem={isAboutUrl}
      />
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
    </>
  );
}

@Controller(inEachEnvironment('webhook-endpoints/:id/delete'))
class DeleteEndpointPage extends ConfirmPage('deleteWebhookEndpoint') {
  @Inject() private readonly endpoints!: WebhookEndpointsService;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation> {
    const { actor, environment, params } = visit;
    const { id, url } = await this.endpoints.requireIn(visit, params.id);
    return {
      title: 'Delete this endpoint?',
      parent: { title: url, path: endpointPath(environment, id) },
      text: (
        <>
          <p>
            <code>{url}</code>
          </p>
          <p>
            The service stops sending events to this URL, and drops those that are waiting. You cannot undo
            this. To stop deliveries for a while, pause the endpoint instead. The request log keeps the
            earlier deliveries.
          </p>
        </>
      ),
      button: 'Delete endpoint',
      perform: () => this.endpoints.delete(actor, id),
      next: `${endpointList(environment).path}?done=deleted`,
    };
  }
}

export const ENDPOINT_PAGES = [EndpointsPage, NewEndpointPage, EditEndpointPage, DeleteEndpointPage];
