import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { DASHBOARD_ROLES, type DashboardRole } from '../../infrastructure/auth/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { OperatorAudit, type AuditAction } from '../../modules/audit-logs/index.js';
import { UserLoginsService } from '../../modules/dashboard-login/index.js';
import {
  DashboardUsersService,
  UserAdministrationService,
  type DashboardUser,
} from '../../modules/dashboard-users/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { ORGANIZATION, Options, USER } from './options.js';
import { printResult } from './output.js';
import { readSecret } from './input.js';
import { COMMANDS } from './commands.js';

interface AddUserOptions {
  readonly organization: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly passwordStdin?: boolean;
}

@SubCommand({ name: 'add', description: 'Add a dashboard user; shows a generated password once' })
@Options({
  organization: ORGANIZATION,
  email: { flags: '--email <address>', description: 'email address', required: true },
  name: { flags: '--name <name>', description: 'name', required: true },
  role: { flags: '--role <role>', description: DASHBOARD_ROLES.join(', '), required: true },
  passwordStdin: { flags: '--password-stdin', description: 'read the password from standard input' },
})
class AddUserCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: AddUserOptions): Promise<void> {
    if (!isRole(options.role))
      throw new OperatorError(`The role must be one of ${DASHBOARD_ROLES.join(', ')}.`);
    await app.get(OrganizationsService).require(options.organization);
    const { organization: organizationId, email, name, role } = options;
    const password = options.passwordStdin ? { password: await readSecret() } : {};
    const user = await app.get(OperatorAudit).run(
      () => app.get(DashboardUsersService).add({ organizationId, email, name, role, ...password }),
      (added) => [{ organizationId, action: 'user.add', target: { name: added.email } }],
    );
    printResult({
      user_id: user.id,
      email: user.email,
      ...(options.passwordStdin ? {} : { password: user.password }),
    });
  }
}

@SubCommand({ name: 'list', description: 'List the dashboard users of an organization' })
@Options({ organization: ORGANIZATION })
class ListUsersCommand extends OperatorCommand {
  protected async execute(
    app: INestApplicationContext,
    { organization }: { organization: string },
  ): Promise<void> {
    await app.get(OrganizationsService).require(organization);
    const users = await app.get(DashboardUsersService).list(organization);
    printResult(
      users.map((user) => ({
        user_id: user.id,
        email: user.email,
        name: user.name,
        role: user.role,
        has_password: user.passwordHash !== null,
        has_second_factor: user.totpEnabledAt !== null,
        disabled_at: user.disabledAt,
        created_at: user.createdAt,
      })),
    );
  }
}

/** A command that changes one user. Recorded in the audit log unless `change()` returns false. */
abstract class ChangeUserCommand extends OperatorCommand {
  protected abstract readonly action: AuditAction;

  protected async execute(app: INestApplicationContext, options: { user: string }): Promise<void> {
    const user = await app.get(DashboardUsersService).require(options.user);
    const { organizationId, email } = user;
    const changed = await app.get(OperatorAudit).run(
      () => this.change(app, user),
      (didChange) => (didChange ? [{ organizationId, action: this.action, target: { name: email } }] : []),
    );
    printResult({ user_id: user.id, email, changed });
  }

  /** @returns false if there was nothing to change; `unlock` cannot tell and always returns true */
  protected abstract change(app: INestApplicationContext, user: DashboardUser): Promise<boolean>;
}

@SubCommand({
  name: 'disable',
  description: 'Disable a user; ends their sessions, access tokens and device approvals',
})
@Options({ user: USER })
class DisableUserCommand extends ChangeUserCommand {
  protected readonly action = 'user.update';

  protected change(app: INestApplicationContext, { id }: DashboardUser): Promise<boolean> {
    return app.get(UserAdministrationService).setDisabledByOperator(id, true);
  }
}

@SubCommand({ name: 'enable', description: 'Enable a disabled user, who can then log in again' })
@Options({ user: USER })
class EnableUserCommand extends ChangeUserCommand {
  protected readonly action = 'user.update';

  protected change(app: INestApplicationContext, { id }: DashboardUser): Promise<boolean> {
    return app.get(UserAdministrationService).setDisabledByOperator(id, false);
  }
}

@SubCommand({
  name: 'unlock',
  description: 'Lift the limits on failed logins for a user; the limits per browser and IP address remain',
})
@Options({ user: USER })
class UnlockUserCommand extends ChangeUserCommand {
  protected readonly action = 'user.unlock';

  protected async change(app: INestApplicationContext, user: DashboardUser): Promise<boolean> {
    await app.get(UserLoginsService).unlock(user);
    return true;
  }
}

@SubCommand({
  name: 'reset-two-factor',
  description:
    'Turn off two-factor authentication for a user who lost the authenticator app; notifies the user by email',
})
@Options({ user: USER })
class ResetTwoFactorCommand extends ChangeUserCommand {
  protected readonly action = 'auth.two_factor_disable';

  protected change(app: INestApplicationContext, user: DashboardUser): Promise<boolean> {
    return app.get(UserLoginsService).resetSecondFactor(user);
  }
}

@Command({
  ...COMMANDS.user,
  subCommands: [
    AddUserCommand,
    ListUsersCommand,
    DisableUserCommand,
    EnableUserCommand,
    UnlockUserCommand,
    ResetTwoFactorCommand,
  ],
})
export class UserCommand extends CommandGroup {}

function isRole(value: string): value is DashboardRole {
  return (DASHBOARD_ROLES as readonly string[]).includes(value);
}
