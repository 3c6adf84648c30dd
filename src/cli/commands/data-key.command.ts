import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { printResult } from './output.js';
import { COMMANDS } from './commands.js';

@SubCommand({
  name: 'rewrap',
  description:
    'Wrap the data keys with KEY_ENCRYPTION_KEY, so that you can remove PREVIOUS_KEY_ENCRYPTION_KEY',
})
class RewrapDataKeysCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext): Promise<void> {
    printResult({ data_keys: await app.get(Sealer).rewrapDataKeys() });
  }
}

@Command({ ...COMMANDS['data-key'], subCommands: [RewrapDataKeysCommand] })
export class DataKeyCommand extends CommandGroup {}
