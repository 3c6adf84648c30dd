import type { INestApplicationContext } from '@nestjs/common';
import { DASHBOARD_ROLES, type DashboardRole } from '../../infrastructure/auth/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { OperatorAudit } from '../../modules/audit-logs/index.js';
import { UserLoginsService } from '../../modules/dashboard-login/index.js';
import {
  DashboardUsersService,
  UserAdministrationService,
  type DashboardUser,
} from '../../modules/dashboard-users/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { commandGroup } from '../operator-command.js';
import { readSecret } from './input.js';
import { generatedPassword, ORGANIZATION, PASSWORD_LIFETIME } from './options.js';

const ROLES: readonly string[] = DASHBOARD_ROLES;

interface AddOptions {
  readonly organization: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly passwordStdin?: boolean;
}

export const USER_COMMAND = commandGroup('user');

USER_COMMAND.command('add')
  .description('Add a dashboard user; shows a generated password once')
  .addOption(ORGANIZATION)
  .requiredOption('--email <address>', 'email address')
  .requiredOption('--name <name>', 'name')
  .requiredOption('--role <role>', ROLES.join(', '))
  .option('--password-stdin', 'read the password from standard input')
  .onApplication<AddOptions>(async (app, options) => {
    const { organization: organizationId, email, name, role, passwordStdin } = options;
    if (!ROLES.includes(role)) throw new OperatorError(`The role must be one of ${ROLES.join(', ')}.`);
    await app.get(OrganizationsService).requireForOperator(organizationId);
    const password = passwordStdin ? await readSecret('password') : undefined;
    const users = app.get(DashboardUsersService);
    const user = await users.prepare({
      organizationId,
      email,
      name,
      role: role as DashboardRole,
      password,
      passwordLifetime: PASSWORD_LIFETIME,
    });
    const added = await app.get(OperatorAudit).run(
      () => users.add(user),
      (result) => [{ organizationId, action: 'user.add', target: { name: result.email } }],
    );
    return { user_id: added.id, email: added.email, ...(passwordStdin ? {} : generatedPassword(added)) };
  });

USER_COMMAND.command('list')
  .description('List the dashboard users of an organization')
  .addOption(ORGANIZATION)
  .onApplication<{ organization: string }>(async (app, { organization }) => {
    await app.get(OrganizationsService).requireForOperator(organization);
    const users = await app.get(DashboardUsersService).list(organization);
    return users.map((user) => ({
      user_id: user.id,
      email: user.email,
      name: user.name,
      role: user.role,
      has_password: user.passwordHash !== null,
      has_second_factor: user.totpEnabledAt !== null,
      disabled_at: user.disabledAt,
      created_at: user.createdAt,
    }));
  });

/** Adds a command that changes one user. @param change returns false if there was nothing to change, which is not recorded */
function addChangeOfUser(
  name: string,
  description: string,
  action: AuditAction,
  change: (app: INestApplicationContext, user: DashboardUser) => Promise<boolean>,
): void {
  USER_COMMAND.command(name)
    .description(description)
    .requiredOption('--user <user_id>', 'the user, as listed by `user list`')
    .onApplication<{ user: string }>(async (app, options) => {
      const user = await app.get(DashboardUsersService).requireForOperator(options.user);
      const { id, organizationId, email } = user;
      const changed = await app.get(OperatorAudit).run(
        () => change(app, user),
        (didChange) => (didChange ? [{ organizationId, action, target: { name: email } }] : []),
      );
      return { user_id: id, email, changed };
    });
}

addChangeOfUser(
  'disable',
  'Disable a user; ends their sessions, access tokens, device approvals and access grants',
  'user.update',
  (app, { id }) => app.get(UserAdministrationService).setDisabledByOperator(id, true),
);
addChangeOfUser('enable', 'Enable a disabled user, who can then log in again', 'user.update', (app, { id }) =>
  app.get(UserAdministrationService).setDisabledByOperator(id, false),
);
addChangeOfUser(
  'unlock',
  'Lift the limits on failed logins for a user; the limits per browser and IP address remain',
  'user.unlock',
  async (app, user) => {
    await app.get(UserLoginsService).unlock(user);
    // Whether there was a limit is not known.
    return true;
  },
);
addChangeOfUser(
  'reset-two-factor',
  'Turn off two-factor authentication, remove the passkeys of a user who lost them, and end the user’s sessions and devices; notifies the user by email',
  'auth.two_factor_disable',
  (app, user) => app.get(UserLoginsService).resetSecondFactor(user),
);
