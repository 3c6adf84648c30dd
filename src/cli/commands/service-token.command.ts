import type { INestApplicationContext } from '@nestjs/common';
import { SERVICE_SCOPES } from '../../infrastructure/auth/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { OperatorAudit, PLATFORM, type OperatorChange } from '../../modules/audit-logs/index.js';
import { ServiceTokensService, type IssuedServiceToken } from '../../modules/service-tokens/index.js';
import { commandGroup, parseNumber, requiredOption } from '../operator-command.js';
import { listed, OVERLAP_RANGE } from './options.js';

const TOKEN = requiredOption(
  '--token <service_token_id>',
  'the service token, as listed by `service-token list`',
);

export const SERVICE_TOKEN_COMMAND = commandGroup('service-token');

SERVICE_TOKEN_COMMAND.command('create')
  .description('Create a service token, and print it once')
  .requiredOption('--name <name>', 'the service that uses the token')
  .requiredOption<readonly string[]>(
    '--scope <scope>',
    `${SERVICE_SCOPES.join(' or ')}; repeat the option or separate scopes by commas`,
    listed,
  )
  .onApplication<{ name: string; scope: string[] }>((app, { name, scope }) =>
    issue(app, 'service_token.create', (tokens) => tokens.create(name, scope)),
  );

SERVICE_TOKEN_COMMAND.command('list')
  .description('List the service tokens, without the tokens themselves')
  .onApplication(async (app) => {
    const tokens = await app.get(ServiceTokensService).list();
    return tokens.map((token) => ({
      service_token_id: token.id,
      name: token.name,
      scopes: token.scopes,
      created_at: token.createdAt,
      last_used_at: token.lastUsedAt,
      expires_at: token.expiresAt,
      revoked_at: token.revokedAt,
    }));
  });

SERVICE_TOKEN_COMMAND.command('rotate')
  .description('Issue a token with the same name and scopes; the old one is accepted until the overlap ends')
  .addOption(TOKEN)
  .option(
    '--overlap-hours <hours>',
    `how long the old token is still accepted, ${OVERLAP_RANGE}`,
    parseNumber,
  )
  .onApplication<{ token: string; overlapHours?: number }>((app, { token, overlapHours }) =>
    issue(app, 'service_token.rotate', (tokens) => tokens.rotate(token, overlapHours)),
  );

SERVICE_TOKEN_COMMAND.command('revoke')
  .description('Revoke a service token; every process rejects it within 5 seconds')
  .addOption(TOKEN)
  .onApplication<{ token: string }>(async (app, { token }) => {
    const { revokedAt } = await app.get(OperatorAudit).run(
      () => app.get(ServiceTokensService).revoke(token),
      (before) => (before.revokedAt ? [] : [changeOf('service_token.revoke', before.name)]),
    );
    return { service_token_id: token, revoked: true, changed: !revokedAt };
  });

/** Issues a token, and records it in the audit log of the platform. */
async function issue(
  app: INestApplicationContext,
  action: AuditAction,
  work: (tokens: ServiceTokensService) => Promise<IssuedServiceToken>,
): Promise<unknown> {
  const { stored, token } = await app.get(OperatorAudit).run(
    () => work(app.get(ServiceTokensService)),
    (issued) => [changeOf(action, issued.stored.name)],
  );
  return { service_token_id: stored.id, name: stored.name, scopes: stored.scopes, token };
}

/** Service tokens belong to no organization. */
function changeOf(action: AuditAction, name: string): OperatorChange {
  return { organizationId: PLATFORM, action, target: { name } };
}
