import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { TokenSigningKeysService, type TokenSigningKeyStatus } from '../../modules/oauth/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { printResult } from './output.js';
import { COMMANDS } from './commands.js';

@SubCommand({ name: 'list', description: 'List the signing keys of access tokens, newest first' })
class ListTokenKeysCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext): Promise<void> {
    const keys = await app.get(TokenSigningKeysService).describe();
    printResult(keys.map(toReport));
  }
}

@SubCommand({ name: 'rotate', description: 'Publish a new key, which signs access tokens after 10 minutes' })
class RotateTokenKeyCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext): Promise<void> {
    printResult(toReport(await app.get(TokenSigningKeysService).rotate()));
  }
}

@Command({ ...COMMANDS['token-key'], subCommands: [ListTokenKeysCommand, RotateTokenKeyCommand] })
export class TokenKeyCommand extends CommandGroup {}

function toReport(key: TokenSigningKeyStatus): Record<string, unknown> {
  return {
    kid: key.kid,
    algorithm: key.algorithm,
    created_at: key.createdAt,
    signs_from: key.signsFrom,
    state: key.state,
  };
}
