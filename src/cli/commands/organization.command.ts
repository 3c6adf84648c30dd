import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option, SubCommand } from 'nest-commander';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { printResult } from './output.js';
import { readSecret } from './input.js';

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
class CreateOrganizationCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: CreateOrganizationOptions): Promise<void> {
    const { id, development, production, owner } = await app.get(OrganizationsService).create({
      name: options.name,
      ownerEmail: options.ownerEmail,
      ownerName: options.ownerName,
      ...(options.passwordStdin ? { ownerPassword: await readSecret() } : {}),
    });
    printResult({
      organization_id: id,
      development: { client_id: development.clientId, secret: development.secret },
      production: { client_id: production.clientId, secret: production.secret },
      dashboard: { email: owner.email, ...(options.passwordStdin ? {} : { password: owner.password }) },
    });
  }

  @Option({ flags: '--name <name>', description: 'name of the organization', required: true })
  name(value: string): string {
    return value;
  }

  @Option({ flags: '--owner-email <address>', description: 'email address of the owner', required: true })
  ownerEmail(value: string): string {
    return value;
  }

  @Option({ flags: '--owner-name <name>', description: 'name of the owner', required: true })
  ownerName(value: string): string {
    return value;
  }

  @Option({ flags: '--password-stdin', description: 'read the owner’s password from standard input' })
  passwordStdin(): boolean {
    return true;
  }
}

@Command({
  name: 'organization',
  description: 'Organizations, which are the customers of the platform',
  subCommands: [CreateOrganizationCommand],
})
export class OrganizationCommand extends CommandGroup {}
