import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option, SubCommand } from 'nest-commander';
import { DASHBOARD_ROLES, type DashboardRole } from '../../infrastructure/auth/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { DashboardUsersService } from '../../modules/dashboard-users/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { printResult } from './output.js';
import { readSecret } from './input.js';

interface AddUserOptions {
  readonly organization: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly passwordStdin?: boolean;
}

@SubCommand({ name: 'add', description: 'Add a dashboard user; shows a generated password once' })
class AddUserCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: AddUserOptions): Promise<void> {
    if (!isRole(options.role))
      throw new OperatorError(`The role must be one of ${DASHBOARD_ROLES.join(', ')}.`);
    await app.get(OrganizationsService).require(options.organization);
    const user = await app.get(DashboardUsersService).add({
      organizationId: options.organization,
      email: options.email,
      name: options.name,
      role: options.role,
      ...(options.passwordStdin ? { password: await readSecret() } : {}),
    });
    printResult({
      user_id: user.id,
      email: user.email,
      ...(options.passwordStdin ? {} : { password: user.password }),
    });
  }

  @Option({ flags: '--organization <id>', description: 'the organization', required: true })
  organization(value: string): string {
    return value;
  }

  @Option({ flags: '--email <address>', description: 'email address', required: true })
  email(value: string): string {
    return value;
  }

  @Option({ flags: '--name <name>', description: 'name', required: true })
  name(value: string): string {
    return value;
  }

  @Option({ flags: '--role <role>', description: DASHBOARD_ROLES.join(', '), required: true })
  role(value: string): string {
    return value;
  }

  @Option({ flags: '--password-stdin', description: 'read the password from standard input' })
  passwordStdin(): boolean {
    return true;
  }
}

@Command({ name: 'user', description: 'Dashboard users', subCommands: [AddUserCommand] })
export class UserCommand extends CommandGroup {}

function isRole(value: string): value is DashboardRole {
  return (DASHBOARD_ROLES as readonly string[]).includes(value);
}
