import { OperatorAudit } from '../../modules/audit-logs/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { commandGroup, operatorCommand, option, requiredOption } from '../operator-command.js';
import { SsoSettingsService } from '../../modules/single-sign-on/index.js';
import { readSecret } from './input.js';
import { ORGANIZATION } from './options.js';

interface CreateOptions {
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerName: string;
  readonly passwordStdin?: boolean;
}

const create = operatorCommand<CreateOptions>(
  {
    name: 'create',
    description:
      'Create an organization with an owner and an API client for each environment; shows their secrets once',
    options: {
      name: requiredOption('--name <name>', 'name of the organization'),
      ownerEmail: requiredOption('--owner-email <address>', 'email address of the owner'),
      ownerName: requiredOption('--owner-name <name>', 'name of the owner'),
      passwordStdin: option('--password-stdin', 'read the owner’s password from standard input'),
    },
  },
  async (app, { name, ownerEmail, ownerName, passwordStdin }) => {
    const password = passwordStdin ? { ownerPassword: await readSecret() } : {};
    const { id, development, production, owner } = await app.get(OperatorAudit).run(
      () => app.get(OrganizationsService).create({ name, ownerEmail, ownerName, ...password }),
      (created) => [
        { organizationId: created.id, action: 'account.create', target: { name } },
        { organizationId: created.id, action: 'user.add', target: { name: created.owner.email } },
      ],
    );
    return {
      organization_id: id,
      development: { client_id: development.clientId, secret: development.secret },
      production: { client_id: production.clientId, secret: production.secret },
      dashboard: { email: owner.email, ...(passwordStdin ? {} : { password: owner.password }) },
    };
  },
);

const list = operatorCommand({ name: 'list', description: 'List all organizations' }, async (app) => {
  const organizations = await app.get(OrganizationsService).list();
  return organizations.map(({ id, name, createdAt, activatedAt }) => ({
    organization_id: id,
    name,
    created_at: createdAt,
    activated_at: activatedAt,
  }));
});

const allowPasswords = operatorCommand<{ organization: string }>(
  {
    name: 'allow-passwords',
    description: 'Let the users of an organization that requires single sign-on log in with passwords again',
    options: { organization: ORGANIZATION },
  },
  async (app, { organization: organizationId }) => {
    await app.get(OrganizationsService).require(organizationId);
    const changed = await app.get(OperatorAudit).run(
      () => app.get(SsoSettingsService).allowPasswords(organizationId),
      (didChange) =>
        didChange
          ? [
              {
                organizationId,
                action: 'sso.settings_update',
                target: {},
                changes: [{ field: 'required', from: 'true', to: 'false' }],
              },
            ]
          : [],
    );
    return { organization_id: organizationId, changed };
  },
);

export const ORGANIZATION_COMMAND = commandGroup('organization', create, list, allowPasswords);
