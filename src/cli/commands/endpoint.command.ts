import type { Command } from 'commander';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { OperatorAudit } from '../../modules/audit-logs/index.js';
import { WebhookEndpointsService } from '../../modules/webhook-endpoints/index.js';
import { commandGroup, operatorCommand, requiredOption } from '../operator-command.js';
import { CLIENT } from './options.js';

const list = operatorCommand<{ client: string }>(
  {
    name: 'list',
    description: 'List the webhook endpoints of a client; masks secrets in their URLs',
    options: { client: CLIENT },
  },
  async (app, { client }) => {
    const { id: clientId, environment } = await app.get(ApiClientsService).require(client);
    const endpoints = await app.get(WebhookEndpointsService).ofClientMasked({ clientId, environment });
    return endpoints.map(({ id, ...endpoint }) => ({ webhook_endpoint_id: id, ...endpoint }));
  },
);

/** A command that changes the status of one endpoint. Recorded in the audit log if anything changed. */
function changeOfStatus(name: string, description: string, status: 'enabled' | 'paused'): Command {
  const options = {
    endpoint: requiredOption(
      '--endpoint <webhook_endpoint_id>',
      'the webhook endpoint, as listed by `endpoint list`',
    ),
  };
  return operatorCommand<{ endpoint: string }>({ name, description, options }, async (app, given) => {
    const endpoints = app.get(WebhookEndpointsService);
    const { id, url, client } = await endpoints.requireForOperator(given.endpoint);
    const { organizationId, environment } = client;
    const target = { name: url, environment };
    const changed = await app.get(OperatorAudit).run(
      () => endpoints.setStatus(id, status),
      (didChange) => (didChange ? [{ organizationId, action: 'webhook.update', target }] : []),
    );
    return { webhook_endpoint_id: id, status, changed };
  });
}

export const ENDPOINT_COMMAND = commandGroup(
  'endpoint',
  list,
  changeOfStatus('pause', 'Send nothing to a webhook endpoint until it is resumed; events wait', 'paused'),
  changeOfStatus(
    'resume',
    'Send events to a paused or disabled webhook endpoint again, those that waited first',
    'enabled',
  ),
);
