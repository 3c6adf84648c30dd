import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
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
import { commandGroup, operatorCommand, option, requiredOption } from '../operator-command.js';
import { readSecret } from './input.js';
import { ORGANIZATION } from './options.js';

const ROLES: readonly string[] = DASHBOARD_ROLES;

interface AddOptions {
  readonly organization: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly passwordStdin?: boolean;
}

const add = operatorCommand<AddOptions>(
  {
    name: 'add',
    description: 'Add a dashboard user; shows a generated password once',
    options: {
      organization: ORGANIZATION,
      email: requiredOption('--email <address>', 'email address'),
      name: requiredOption('--name <name>', 'name'),
      role: requiredOption('--role <role>', ROLES.join(', ')),
      passwordStdin: option('--password-stdin', 'read the password from standard input'),
    },
  },
  async (app, { organization: organizationId, email, name, role, passwordStdin }) => {
    if (!ROLES.includes(role)) throw new OperatorError(`The role must be one of ${ROLES.join(', ')}.`);
    await app.get(OrganizationsService).require(organizationId);
    const user = {
      organizationId,
      email,
      name,
      role: role as DashboardRole,
      ...(passwordStdin ? { password: await readSecret() } : {}),
    };
    const added = await app.get(OperatorAudit).run(
      () => app.get(DashboardUsersService).add(user),
      (result) => [{ organizationId, action: 'user.add', target: { name: result.email } }],
    );
    return {
      user_id: added.id,
      email: added.email,
      ...(passwordStdin ? {} : { password: added.password }),
    };
  },
);

const list = operatorCommand<{ organization: string }>(
  {
    name: 'list',
    description: 'List the dashboard users of an organization',
    options: { organization: ORGANIZATION },
  },
  async (app, { organization }) => {
    await app.get(OrganizationsService).require(organization);
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
  },
);

/** A command that changes one user. @param change returns false if there was nothing to change, which is not recorded */
function changeOfUser(
  { name, description, action }: { name: string; description: string; action: AuditAction },
  change: (app: INestApplicationContext, user: DashboardUser) => Promise<boolean>,
): Command {
  const options = {
    user: requiredOption('--user <user_id>', 'the user, as listed by `user list`'),
  };
  return operatorCommand<{ user: string }>({ name, description, options }, async (app, given) => {
    const user = await app.get(DashboardUsersService).require(given.user);
    const { id, organizationId, email } = user;
    const changed = await app.get(OperatorAudit).run(
      () => change(app, user),
      (didChange) => (didChange ? [{ organizationId, action, target: { name: email } }] : []),
    );
    return { user_id: id, email, changed };
  });
}

const disable = changeOfUser(
  {
    name: 'disable',
    description: 'Disable a user; ends their sessions, access tokens and device approvals',
    action: 'user.update',
  },
  (app, { id }) => app.get(UserAdministrationService).setDisabledByOperator(id, true),
);

const enable = changeOfUser(
  {
    name: 'enable',
    description: 'Enable a disabled user, who can then log in again',
    action: 'user.update',
  },
  (app, { id }) => app.get(UserAdministrationService).setDisabledByOperator(id, false),
);

const unlock = changeOfUser(
  {
    name: 'unlock',
    description: 'Lift the limits on failed logins for a user; the limits per browser and IP address remain',
    action: 'user.unlock',
  },
  async (app, user) => {
    await app.get(UserLoginsService).unlock(user);
    // Whether there was a limit is not known.
    return true;
  },
);

const resetTwoFactor = changeOfUser(
  {
    name: 'reset-two-factor',
    description:
      'Turn off two-factor authentication and remove the passkeys of a user who lost them; notifies the user by email',
    action: 'auth.two_factor_disable',
  },
  (app, user) => app.get(UserLoginsService).resetSecondFactor(user),
);

export const USER_COMMAND = commandGroup('user', add, list, disable, enable, unlock, resetTwoFactor);
