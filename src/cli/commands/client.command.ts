import type { INestApplicationContext } from '@nestjs/common';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import {
  ApiClientsService,
  SECRET_USES,
  type IssuedCredentials,
  type SecretUse,
} from '../../modules/api-clients/index.js';
import { IDENTIFY_OPERATION_NAME } from '../../modules/detected-accounts/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { changesBetween, OperatorAudit, type OperatorChange } from '../../modules/audit-logs/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { commandGroup, parseNumber } from '../operator-command.js';
import { CLIENT, ORGANIZATION, OVERLAP_RANGE } from './options.js';

export const CLIENT_COMMAND = commandGroup('client');

CLIENT_COMMAND.command('list')
  .description('List API clients, without their secrets')
  .option('--organization <id>', 'list only the clients of this organization')
  .onApplication<{ organization?: string }>(async (app, { organization }) => {
    if (organization) await app.get(OrganizationsService).requireForOperator(organization);
    const clients = await app.get(ApiClientsService).list(organization);
    return clients.map((client) => ({
      client_id: client.id,
      organization_id: client.organizationId,
      environment: client.environment,
      enabled_operations: client.enabledOperations,
      created_at: client.createdAt,
    }));
  });

CLIENT_COMMAND.command('create')
  .description(
    'Create the API client of an organization for an environment that has none, and print its secret',
  )
  .addOption(ORGANIZATION)
  .requiredOption('--environment <name>', 'development or production')
  .onApplication<{ organization: string; environment: string }>(async (app, options) => {
    const { organization: organizationId, environment } = options;
    if (!isEnvironment(environment))
      throw new OperatorError('The environment must be development or production.');
    await app.get(OrganizationsService).requireForOperator(organizationId);
    const client = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).create(organizationId, environment),
      ({ clientId }) => [
        { organizationId, action: 'client.create', target: { name: clientId, environment } },
      ],
    );
    return withSecret(client);
  });

CLIENT_COMMAND.command('rotate-secret')
  .description('Issue a new secret; the old one is accepted until the overlap ends')
  .addOption(CLIENT)
  .option(
    '--overlap-hours <hours>',
    `how long the old secret is still accepted, ${OVERLAP_RANGE}; use 0 after a leak`,
    parseNumber,
  )
  .onApplication<{ client: string; overlapHours?: number }>(async (app, options) => {
    const change = await changeOf(app, options.client, 'secret.rotate');
    const rotated = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).rotateSecret(options.client, options.overlapHours),
      () => [change],
    );
    return withSecret(rotated);
  });

CLIENT_COMMAND.command('activate-secret')
  .description('Sign webhooks with the newest secret from now on')
  .addOption(CLIENT)
  .onApplication<{ client: string }>(async (app, { client }) => {
    const change = await changeOf(app, client, 'secret.rotate');
    await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).activateSecret(client),
      (isChanged) => (isChanged ? [change] : []),
    );
    return { client_id: client, activated: true };
  });

CLIENT_COMMAND.command('restrict-secret')
  .description(
    'Restrict the secret to signing webhooks, so that requests need an API key, or accept it for all requests',
  )
  .addOption(CLIENT)
  .requiredOption('--to <use>', SECRET_USES.toReversed().join(' or '))
  .onApplication<{ client: string; to: string }>(async (app, { client, to }) => {
    if (!isSecretUse(to))
      throw new OperatorError(`The use must be ${SECRET_USES.toReversed().join(' or ')}.`);
    const change = await changeOf(app, client, 'client.update');
    const before = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).restrictSecret(client, to),
      (use) => (use === to ? [] : [{ ...change, changes: changesBetween({ secret: use }, { secret: to }) }]),
    );
    return { client_id: client, secret: to, changed: before !== to };
  });

CLIENT_COMMAND.command('enable')
  .description('Enable an operation that clients can’t use by default')
  .addOption(CLIENT)
  .requiredOption('--operation <name>', `the operation: ${IDENTIFY_OPERATION_NAME}`)
  .onApplication<{ client: string; operation: string }>(async (app, { client, operation }) => {
    if (operation !== IDENTIFY_OPERATION_NAME)
      throw new OperatorError(`The operation must be ${IDENTIFY_OPERATION_NAME}.`);
    const change = await changeOf(app, client, 'client.update');
    const changed = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).enableOperation(client, operation),
      (didChange) => (didChange ? [change] : []),
    );
    return { client_id: client, enabled: operation, changed };
  });

function withSecret({ clientId, environment, secret }: IssuedCredentials): object {
  return { client_id: clientId, environment, secret };
}

/** @throws OperatorError if the client is unknown */
async function changeOf(
  app: INestApplicationContext,
  clientId: string,
  action: AuditAction,
): Promise<OperatorChange> {
  const { organizationId, environment } = await app.get(ApiClientsService).requireForOperator(clientId);
  return { organizationId, action, target: { name: clientId, environment } };
}

function isSecretUse(value: string): value is SecretUse {
  return (SECRET_USES as readonly string[]).includes(value);
}

function isEnvironment(value: string): value is PlatformEnvironment {
  return (ENVIRONMENTS as readonly string[]).includes(value);
}
