import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { OperatorSession } from '../operator-session.js';
import { CommandGroup } from './command-group.js';
import { printResult } from './output.js';

@SubCommand({
  name: 'rewrap',
  description:
    'Wrap the data keys with KEY_ENCRYPTION_KEY, so that you can remove PREVIOUS_KEY_ENCRYPTION_KEY',
})
export class RewrapDataKeysCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.run(async (app) => {
      printResult({ data_keys: await app.get(Sealer).rewrapDataKeys() });
    });
  }
}

@Command({
  name: 'data-key',
  description: 'The keys that encrypt secrets and personal data',
  subCommands: [RewrapDataKeysCommand],
})
export class DataKeyCommand extends CommandGroup {}
