import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { WebhookEndpointsService } from '../../modules/webhook-endpoints/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { CLIENT, Options } from './options.js';
import { printResult } from './output.js';

@SubCommand({
  name: 'list',
  description: 'List the webhook endpoints of a client; masks secrets in their URLs',
})
@Options({ client: CLIENT })
class ListEndpointsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, { client }: { client: string }): Promise<void> {
    await app.get(ApiClientsService).require(client);
    const endpoints = await app.get(WebhookEndpointsService).ofClientMasked(client);
    printResult(
      endpoints.map(({ id, url, description, createdAt }) => ({
        webhook_endpoint_id: id,
        url,
        description,
        created_at: createdAt,
      })),
    );
  }
}

@Command({ name: 'endpoint', description: 'Webhook endpoints', subCommands: [ListEndpointsCommand] })
export class EndpointCommand extends CommandGroup {}
