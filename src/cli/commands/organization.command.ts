import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { OperatorAudit } from '../../modules/audit-logs/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { Options } from './options.js';
import { printResult } from './output.js';
import { readSecret } from './input.js';
import { COMMANDS } from './commands.js';

interface CreateOrganizationOptions {
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerName: string;
  readonly passwordStdin?: boolean;
}

@SubCommand({
  name: 'create',
  description:
    'Create an organization with an owner and an API client for each environment; shows their secrets once',
})
@Options({
  name: { flags: '--name <name>', description: 'name of the organization', required: true },
  ownerEmail: { flags: '--owner-email <address>', description: 'email address of the owner', required: true },
  ownerName: { flags: '--owner-name <name>', description: 'name of the owner', required: true },
  passwordStdin: { flags: '--password-stdin', description: 'read the owner’s password from standard input' },
})
class CreateOrganizationCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: CreateOrganizationOptions): Promise<void> {
    const { name, ownerEmail, ownerName } = options;
    const password = options.passwordStdin ? { ownerPassword: await readSecret() } : {};
    const { id, development, production, owner } = await app.get(OperatorAudit).run(
      () => app.get(OrganizationsService).create({ name, ownerEmail, ownerName, ...password }),
      (created) => [
        { organizationId: created.id, action: 'account.create', target: { name } },
        { organizationId: created.id, action: 'user.add', target: { name: created.owner.email } },
      ],
    );
    printResult({
      organization_id: id,
      development: { client_id: development.clientId, secret: development.secret },
      production: { client_id: production.clientId, secret: production.secret },
      dashboard: { email: owner.email, ...(options.passwordStdin ? {} : { password: owner.password }) },
    });
  }
}

@SubCommand({ name: 'list', description: 'List all organizations' })
class ListOrganizationsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext): Promise<void> {
    const organizations = await app.get(OrganizationsService).list();
    printResult(
      organizations.map(({ id, name, createdAt, activatedAt }) => ({
        organization_id: id,
        name,
        created_at: createdAt,
        activated_at: activatedAt,
      })),
    );
  }
}

@Command({ ...COMMANDS.organization, subCommands: [CreateOrganizationCommand, ListOrganizationsCommand] })
export class OrganizationCommand extends CommandGroup {}
