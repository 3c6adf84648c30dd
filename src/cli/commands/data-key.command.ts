import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { answer, OperatorSession } from '../operator-session.js';

@SubCommand({
  name: 'rewrap',
  description: 'Wrap the data keys with KEY_ENCRYPTION_KEY, when PREVIOUS_KEY_ENCRYPTION_KEY is to go',
})
export class RewrapDataKeysCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.run(async (app) => {
      answer({ data_keys: await app.get(Sealer).rewrapDataKeys() });
    });
  }
}

@Command({
  name: 'data-key',
  description: 'The keys that seal secrets and personal data',
  subCommands: [RewrapDataKeysCommand],
})
export class DataKeyCommand extends CommandRunner {
  override async run(): Promise<void> {
    this.command.help();
  }
}
