import { ApiClientsService } from '../../modules/api-clients/index.js';
import { OperatorAudit } from '../../modules/audit-logs/index.js';
import { WebhookEndpointsService } from '../../modules/webhook-endpoints/index.js';
import { commandGroup } from '../operator-command.js';
import { CLIENT } from './options.js';

export const ENDPOINT_COMMAND = commandGroup('endpoint');

ENDPOINT_COMMAND.command('list')
  .description('List the webhook endpoints of a client; masks secrets in their URLs')
  .addOption(CLIENT)
  .onApplication<{ client: string }>(async (app, { client }) => {
    const { id: clientId, environment } = await app.get(ApiClientsService).requireForOperator(client);
    const endpoints = await app.get(WebhookEndpointsService).ofClientMasked({ clientId, environment });
    return endpoints.map(({ id, ...endpoint }) => ({ webhook_endpoint_id: id, ...endpoint }));
  });

/** Adds a command that changes the status of one endpoint. Recorded in the audit log if anything changed. */
function addChangeOfStatus(name: string, description: string, status: 'enabled' | 'paused'): void {
  ENDPOINT_COMMAND.command(name)
    .description(description)
    .requiredOption('--endpoint <webhook_endpoint_id>', 'the webhook endpoint, as listed by `endpoint list`')
    .onApplication<{ endpoint: string }>(async (app, options) => {
      const endpoints = app.get(WebhookEndpointsService);
      const { id, url, client } = await endpoints.requireForOperator(options.endpoint);
      const { organizationId, environment } = client;
      const target = { name: url, environment };
      const changed = await app.get(OperatorAudit).run(
        () => endpoints.setStatus(id, status),
        (didChange) => (didChange ? [{ organizationId, action: 'webhook.update', target }] : []),
      );
      return { webhook_endpoint_id: id, status, changed };
    });
}

addChangeOfStatus('pause', 'Send nothing to a webhook endpoint until it is resumed; events wait', 'paused');
addChangeOfStatus(
  'resume',
  'Send events to a paused or disabled webhook endpoint again, those that waited first',
  'enabled',
);
