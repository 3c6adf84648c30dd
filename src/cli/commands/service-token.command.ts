import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { SERVICE_SCOPES } from '../../infrastructure/auth/index.js';
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
    printIssued(await app.get(ServiceTokensService).create(options.name, scopes));
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
    printIssued(await app.get(ServiceTokensService).rotate(token, overlapHours));
  }
}

@SubCommand({
  name: 'revoke',
  description: 'Revoke a service token; every process rejects it within 5 seconds',
})
@Options({ token: TOKEN })
class RevokeServiceTokenCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, { token }: { token: string }): Promise<void> {
    const changed = await app.get(ServiceTokensService).revoke(token);
    printResult({ service_token_id: token, revoked: true, changed });
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

function printIssued({ stored: { id, name, scopes }, token }: IssuedServiceToken): void {
  printResult({ service_token_id: id, name, scopes, token });
}
