import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { TokenSigningKeysService, type TokenSigningKeyStatus } from '../../modules/oauth/index.js';
import { answer, OperatorSession } from '../operator-session.js';

@SubCommand({ name: 'list', description: 'List the keys of access tokens, the newest first' })
export class ListTokenKeysCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.run(async (app) => {
      const keys = await app.get(TokenSigningKeysService).describe();
      answer(keys.map(reported));
    });
  }
}

@SubCommand({
  name: 'rotate',
  description: 'Publish a new key, which signs access tokens from 10 minutes later on',
})
export class RotateTokenKeyCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.run(async (app) => {
      answer(reported(await app.get(TokenSigningKeysService).rotate()));
    });
  }
}

@Command({
  name: 'token-key',
  description: 'The keys that sign access tokens',
  subCommands: [ListTokenKeysCommand, RotateTokenKeyCommand],
})
export class TokenKeyCommand extends CommandRunner {
  override async run(): Promise<void> {
    this.command.help();
  }
}

function reported(key: TokenSigningKeyStatus): Record<string, unknown> {
  return {
    kid: key.kid,
    algorithm: key.algorithm,
    created_at: key.createdAt,
    signs_from: key.signsFrom,
    state: key.state,
  };
}
