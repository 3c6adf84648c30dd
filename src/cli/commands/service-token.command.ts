import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { SERVICE_SCOPES } from '../../infrastructure/auth/index.js';
import {
  OperatorAudit,
  PLATFORM,
  type AuditAction,
  type OperatorChange,
} from '../../modules/audit-logs/index.js';
import {
  DEFAULT_SERVICE_TOKEN_OVERLAP_HOURS,
  ServiceTokensService,
  type IssuedServiceToken,
} from '../../modules/service-tokens/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { Options, parseNumber } from './options.js';
import { printResult } from './output.js';
import { COMMANDS } from './commands.js';

const TOKEN = {
  flags: '--token <service_token_id>',
  description: 'the service token, as listed by `service-token list`',
  required: true,
};

@SubCommand({ name: 'create', description: 'Create a service token, and print it once' })
@Options({
  name: { flags: '--name <name>', description: 'the service that uses the token', required: true },
  scope: {
    flags: '--scope <scope>',
    description: `${SERVICE_SCOPES.join(' or ')}; repeat the option or separate scopes by commas`,
    required: true,
    parse: (text, previous) => [...((previous as string[] | undefined) ?? []), ...text.split(',')],
  },
})
class CreateServiceTokenCommand extends OperatorCommand {
  protected async execute(
    app: INestApplicationContext,
    options: { name: string; scope: string[] },
  ): Promise<void> {
    const scopes = options.scope.map((scope) => scope.trim());
    const tokens = app.get(ServiceTokensService);
    await issue(app, 'service_token.create', () => tokens.create(options.name, scopes));
  }
}

@SubCommand({ name: 'list', description: 'List the service tokens, without the tokens themselves' })
class ListServiceTokensCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext): Promise<void> {
    const tokens = await app.get(ServiceTokensService).list();
    printResult(
      tokens.map((token) => ({
        service_token_id: token.id,
        name: token.name,
        scopes: token.scopes,
        created_at: token.createdAt,
        last_used_at: token.lastUsedAt,
        expires_at: token.expiresAt,
        revoked_at: token.revokedAt,
      })),
    );
  }
}

@SubCommand({
  name: 'rotate',
  description: 'Issue a token with the same name and scopes; the old one is accepted until the overlap ends',
})
@Options({
  token: TOKEN,
  overlapHours: {
    flags: '--overlap-hours <hours>',
    description: `how long the old token is still accepted, 0 to 168 (default: ${DEFAULT_SERVICE_TOKEN_OVERLAP_HOURS})`,
    parse: parseNumber,
  },
})
class RotateServiceTokenCommand extends OperatorCommand {
  protected async execute(
    app: INestApplicationContext,
    { token, overlapHours = DEFAULT_SERVICE_TOKEN_OVERLAP_HOURS }: { token: string; overlapHours?: number },
  ): Promise<void> {
    const tokens = app.get(ServiceTokensService);
    await issue(app, 'service_token.rotate', () => tokens.rotate(token, overlapHours));
  }
}

@SubCommand({
  name: 'revoke',
  description: 'Revoke a service token; every process rejects it within 5 seconds',
})
@Options({ token: TOKEN })
class RevokeServiceTokenCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, { token }: { token: string }): Promise<void> {
    const { revokedAt } = await app.get(OperatorAudit).run(
      () => app.get(ServiceTokensService).revoke(token),
      (before) => (before.revokedAt ? [] : [changeOf('service_token.revoke', before.name)]),
    );
    printResult({ service_token_id: token, revoked: true, changed: !revokedAt });
  }
}

@Command({
  ...COMMANDS['service-token'],
  subCommands: [
    CreateServiceTokenCommand,
    ListServiceTokensCommand,
    RotateServiceTokenCommand,
    RevokeServiceTokenCommand,
  ],
})
export class ServiceTokenCommand extends CommandGroup {}

/** Issues a token, records it in the audit log of the platform, and prints it. */
async function issue(
  app: INestApplicationContext,
  action: AuditAction,
  work: () => Promise<IssuedServiceToken>,
): Promise<void> {
  const { stored, token } = await app
    .get(OperatorAudit)
    .run(work, (issued) => [changeOf(action, issued.stored.name)]);
  printResult({ service_token_id: stored.id, name: stored.name, scopes: stored.scopes, token });
}

/** Service tokens belong to no organization. */
function changeOf(action: AuditAction, name: string): OperatorChange {
  return { organizationId: PLATFORM, action, target: { name } };
}
