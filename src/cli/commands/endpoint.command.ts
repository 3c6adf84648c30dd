import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { OperatorAudit } from '../../modules/audit-logs/index.js';
import { WebhookEndpointsService } from '../../modules/webhooks/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { CLIENT, ENDPOINT, Options } from './options.js';
import { printResult } from './output.js';
import { COMMANDS } from './commands.js';

@SubCommand({
  name: 'list',
  description: 'List the webhook endpoints of a client; masks secrets in their URLs',
})
@Options({ client: CLIENT })
class ListEndpointsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: { client: string }): Promise<void> {
    const { id: clientId, environment } = await app.get(ApiClientsService).require(options.client);
    const endpoints = await app.get(WebhookEndpointsService).ofClientMasked({ clientId, environment });
    printResult(endpoints.map(({ id, ...endpoint }) => ({ webhook_endpoint_id: id, ...endpoint })));
  }
}

/** Changes the status of one endpoint. Recorded in the audit log if anything changed. */
abstract class StatusCommand extends OperatorCommand {
  protected abstract readonly status: 'enabled' | 'paused';

  protected async execute(app: INestApplicationContext, options: { endpoint: string }): Promise<void> {
    const endpoints = app.get(WebhookEndpointsService);
    const { id, url, client } = await endpoints.requireForOperator(options.endpoint);
    const { organizationId, environment } = client;
    const target = { name: url, environment };
    const changed = await app.get(OperatorAudit).run(
      () => endpoints.setStatus(id, this.status),
      (didChange) => (didChange ? [{ organizationId, action: 'webhook.update', target }] : []),
    );
    printResult({ webhook_endpoint_id: id, status: this.status, changed });
  }
}

@SubCommand({
  name: 'pause',
  description: 'Send nothing to a webhook endpoint until it is resumed; events wait',
})
@Options({ endpoint: ENDPOINT })
class PauseEndpointCommand extends StatusCommand {
  protected readonly status = 'paused';
}

@SubCommand({
  name: 'resume',
  description: 'Send events to a paused or disabled webhook endpoint again, those that waited first',
})
@Options({ endpoint: ENDPOINT })
class ResumeEndpointCommand extends StatusCommand {
  protected readonly status = 'enabled';
}

@Command({
  ...COMMANDS.endpoint,
  subCommands: [ListEndpointsCommand, PauseEndpointCommand, ResumeEndpointCommand],
})
export class EndpointCommand extends CommandGroup {}
