import { OperatorAudit, type OperatorChange } from '../../modules/audit-logs/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { commandGroup } from '../operator-command.js';
import { SsoSettingsService } from '../../modules/single-sign-on/index.js';
import { readSecret } from './input.js';
import { generatedPassword, ORGANIZATION, PASSWORD_LIFETIME } from './options.js';

interface CreateOptions {
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerName: string;
  readonly passwordStdin?: boolean;
}

export const ORGANIZATION_COMMAND = commandGroup('organization');

ORGANIZATION_COMMAND.command('create')
  .description(
    'Create an organization with an owner and an API client for each environment; shows their secrets once',
  )
  .requiredOption('--name <name>', 'name of the organization')
  .requiredOption('--owner-email <address>', 'email address of the owner')
  .requiredOption('--owner-name <name>', 'name of the owner')
  .option('--password-stdin', 'read the owner’s password from standard input')
  .onApplication<CreateOptions>(async (app, { name, ownerEmail, ownerName, passwordStdin }) => {
    const password = passwordStdin ? { ownerPassword: await readSecret('password') } : {};
    const organizations = app.get(OrganizationsService);
    const prepared = await organizations.prepare({
      name,
      ownerEmail,
      ownerName,
      passwordLifetime: PASSWORD_LIFETIME,
      ...password,
    });
    const { id, development, production, owner } = await app.get(OperatorAudit).run(
      () => organizations.create(prepared),
      (created) => [
        { organizationId: created.id, action: 'account.create', target: { name } },
        { organizationId: created.id, action: 'user.add', target: { name: created.owner.email } },
      ],
    );
    return {
      organization_id: id,
      development: { client_id: development.clientId, secret: development.secret },
      production: { client_id: production.clientId, secret: production.secret },
      dashboard: { email: owner.email, ...(passwordStdin ? {} : generatedPassword(owner)) },
    };
  });

ORGANIZATION_COMMAND.command('list')
  .description('List all organizations')
  .onApplication(async (app) => {
    const organizations = await app.get(OrganizationsService).list();
    return organizations.map(({ id, name, createdAt, activatedAt }) => ({
      organization_id: id,
      name,
      created_at: createdAt,
      activated_at: activatedAt,
    }));
  });

ORGANIZATION_COMMAND.command('allow-passwords')
  .description('Let the users of an organization that requires single sign-on log in with passwords again')
  .addOption(ORGANIZATION)
  .onApplication<{ organization: string }>(async (app, { organization: organizationId }) => {
    await app.get(OrganizationsService).requireForOperator(organizationId);
    const change: OperatorChange = {
      organizationId,
      action: 'sso.settings_update',
      target: {},
      changes: [{ field: 'required', from: 'true', to: 'false' }],
    };
    const changed = await app.get(OperatorAudit).run(
      () => app.get(SsoSettingsService).allowPasswords(organizationId),
      (didChange) => (didChange ? [change] : []),
    );
    return { organization_id: organizationId, changed };
  });
