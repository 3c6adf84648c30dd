import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { IDENTIFY_OPERATION } from '../../modules/detected-accounts/index.js';
import { OperatorAudit, type AuditAction, type OperatorChange } from '../../modules/audit-logs/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { printResult } from './output.js';
import { CLIENT, ORGANIZATION, Options, parseNumber } from './options.js';
import { COMMANDS } from './commands.js';

@SubCommand({ name: 'list', description: 'List API clients, without their secrets' })
@Options({
  organization: { flags: '--organization <id>', description: 'list only the clients of this organization' },
})
class ListClientsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: { organization?: string }): Promise<void> {
    if (options.organization) await app.get(OrganizationsService).require(options.organization);
    const clients = await app.get(ApiClientsService).list(options.organization);
    printResult(
      clients.map((client) => ({
        client_id: client.id,
        organization_id: client.organizationId,
        environment: client.environment,
        enabled_operations: client.enabledOperations,
        created_at: client.createdAt,
      })),
    );
  }
}

@SubCommand({
  name: 'create',
  description:
    'Create the API client of an organization for an environment that has none, and print its secret',
})
@Options({
  organization: ORGANIZATION,
  environment: { flags: '--environment <name>', description: 'development or production', required: true },
})
class CreateClientCommand extends OperatorCommand {
  protected async execute(
    app: INestApplicationContext,
    options: { organization: string; environment: string },
  ): Promise<void> {
    const { environment } = options;
    if (!isEnvironment(environment)) {
      throw new OperatorError('The environment must be development or production.');
    }
    await app.get(OrganizationsService).require(options.organization);
    const organizationId = options.organization;
    const client = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).create(organizationId, environment),
      ({ clientId }) => [
        { organizationId, action: 'client.create', target: { name: clientId, environment } },
      ],
    );
    printResult({ client_id: client.clientId, environment: client.environment, secret: client.secret });
  }
}

@SubCommand({
  name: 'rotate-secret',
  description: 'Issue a new secret; the old one is accepted until the overlap ends',
})
@Options({
  client: CLIENT,
  overlapHours: {
    flags: '--overlap-hours <hours>',
    description: 'how long the old secret is still accepted, 0 to 168 (default: 24); use 0 after a leak',
    parse: parseNumber,
  },
})
class RotateSecretCommand extends OperatorCommand {
  protected async execute(
    app: INestApplicationContext,
    options: { client: string; overlapHours?: number },
  ): Promise<void> {
    const change = await changeOf(app, options.client, 'secret.rotate');
    const rotated = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).rotateSecret(options.client, options.overlapHours),
      () => [change],
    );
    printResult({ client_id: rotated.clientId, environment: rotated.environment, secret: rotated.secret });
  }
}

@SubCommand({ name: 'activate-secret', description: 'Sign webhooks with the newest secret from now on' })
@Options({ client: CLIENT })
class ActivateSecretCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: { client: string }): Promise<void> {
    const change = await changeOf(app, options.client, 'secret.rotate');
    await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).activateSecret(options.client),
      (isChanged) => (isChanged ? [change] : []),
    );
    printResult({ client_id: options.client, activated: true });
  }
}

@SubCommand({ name: 'enable', description: 'Enable an operation that clients can’t use by default' })
@Options({
  client: CLIENT,
  operation: {
    flags: '--operation <name>',
    description: `the operation: ${IDENTIFY_OPERATION}`,
    required: true,
  },
})
class EnableOperationCommand extends OperatorCommand {
  protected async execute(
    app: INestApplicationContext,
    options: { client: string; operation: string },
  ): Promise<void> {
    if (options.operation !== IDENTIFY_OPERATION) {
      throw new OperatorError(`The operation must be ${IDENTIFY_OPERATION}.`);
    }
    const change = await changeOf(app, options.client, 'client.update');
    await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).enableOperation(options.client, options.operation),
      () => [change],
    );
    printResult({ client_id: options.client, enabled: options.operation });
  }
}

@Command({
  ...COMMANDS.client,
  subCommands: [
    ListClientsCommand,
    CreateClientCommand,
    RotateSecretCommand,
    ActivateSecretCommand,
    EnableOperationCommand,
  ],
})
export class ClientCommand extends CommandGroup {}

/** @throws OperatorError if the client is unknown */
async function changeOf(
  app: INestApplicationContext,
  clientId: string,
  action: AuditAction,
): Promise<OperatorChange> {
  const { organizationId, environment } = await app.get(ApiClientsService).require(clientId);
  return { organizationId, action, target: { name: clientId, environment } };
}

function isEnvironment(value: string): value is PlatformEnvironment {
  return (ENVIRONMENTS as readonly string[]).includes(value);
}
