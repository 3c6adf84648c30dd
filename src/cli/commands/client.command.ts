import type { INestApplicationContext } from '@nestjs/common';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { IDENTIFY_OPERATION_NAME } from '../../modules/detected-accounts/index.js';
import { OperatorAudit, type AuditAction, type OperatorChange } from '../../modules/audit-logs/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { commandGroup, operatorCommand, option, parseNumber, requiredOption } from '../operator-command.js';
import { CLIENT, ORGANIZATION, OVERLAP_RANGE } from './options.js';

const list = operatorCommand<{ organization?: string }>(
  {
    name: 'list',
    description: 'List API clients, without their secrets',
    options: {
      organization: option('--organization <id>', 'list only the clients of this organization'),
    },
  },
  async (app, { organization }) => {
    if (organization) await app.get(OrganizationsService).require(organization);
    const clients = await app.get(ApiClientsService).list(organization);
    return clients.map((client) => ({
      client_id: client.id,
      organization_id: client.organizationId,
      environment: client.environment,
      enabled_operations: client.enabledOperations,
      created_at: client.createdAt,
    }));
  },
);

const create = operatorCommand<{ organization: string; environment: string }>(
  {
    name: 'create',
    description:
      'Create the API client of an organization for an environment that has none, and print its secret',
    options: {
      organization: ORGANIZATION,
      environment: requiredOption('--environment <name>', 'development or production'),
    },
  },
  async (app, { organization: organizationId, environment }) => {
    if (!isEnvironment(environment))
      throw new OperatorError('The environment must be development or production.');
    await app.get(OrganizationsService).require(organizationId);
    const client = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).create(organizationId, environment),
      ({ clientId }) => [
        { organizationId, action: 'client.create', target: { name: clientId, environment } },
      ],
    );
    return { client_id: client.clientId, environment: client.environment, secret: client.secret };
  },
);

const rotateSecret = operatorCommand<{ client: string; overlapHours?: number }>(
  {
    name: 'rotate-secret',
    description: 'Issue a new secret; the old one is accepted until the overlap ends',
    options: {
      client: CLIENT,
      overlapHours: option(
        '--overlap-hours <hours>',
        `how long the old secret is still accepted, ${OVERLAP_RANGE}; use 0 after a leak`,
        parseNumber,
      ),
    },
  },
  async (app, options) => {
    const change = await changeOf(app, options.client, 'secret.rotate');
    const rotated = await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).rotateSecret(options.client, options.overlapHours),
      () => [change],
    );
    return { client_id: rotated.clientId, environment: rotated.environment, secret: rotated.secret };
  },
);

const activateSecret = operatorCommand<{ client: string }>(
  {
    name: 'activate-secret',
    description: 'Sign webhooks with the newest secret from now on',
    options: { client: CLIENT },
  },
  async (app, { client }) => {
    const change = await changeOf(app, client, 'secret.rotate');
    await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).activateSecret(client),
      (isChanged) => (isChanged ? [change] : []),
    );
    return { client_id: client, activated: true };
  },
);

const enable = operatorCommand<{ client: string; operation: string }>(
  {
    name: 'enable',
    description: 'Enable an operation that clients can’t use by default',
    options: {
      client: CLIENT,
      operation: requiredOption('--operation <name>', `the operation: ${IDENTIFY_OPERATION_NAME}`),
    },
  },
  async (app, { client, operation }) => {
    if (operation !== IDENTIFY_OPERATION_NAME)
      throw new OperatorError(`The operation must be ${IDENTIFY_OPERATION_NAME}.`);
    const change = await changeOf(app, client, 'client.update');
    await app.get(OperatorAudit).run(
      () => app.get(ApiClientsService).enableOperation(client, operation),
      () => [change],
    );
    return { client_id: client, enabled: operation };
  },
);

export const CLIENT_COMMAND = commandGroup('client', list, create, rotateSecret, activateSecret, enable);

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
