import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { TokenSigningKeysService, type TokenSigningKeyStatus } from '../../modules/oauth/index.js';
import { OperatorSession } from '../operator-session.js';
import { CommandGroup } from './command-group.js';
import { printResult } from './output.js';

@SubCommand({ name: 'list', description: 'List the signing keys of access tokens, newest first' })
export class ListTokenKeysCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.run(async (app) => {
      const keys = await app.get(TokenSigningKeysService).describe();
      printResult(keys.map(toReport));
    });
  }
}

@SubCommand({
  name: 'rotate',
  description: 'Publish a new key, which signs access tokens after 10 minutes',
})
export class RotateTokenKeyCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.run(async (app) => {
      printResult(toReport(await app.get(TokenSigningKeysService).rotate()));
    });
  }
}

@Command({
  name: 'token-key',
  description: 'The keys that sign access tokens',
  subCommands: [ListTokenKeysCommand, RotateTokenKeyCommand],
})
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
