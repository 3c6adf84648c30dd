import { Command, CommandRunner } from 'nest-commander';
import { DatabaseConfiguration, migrateConfigured } from '../../infrastructure/database/index.js';
import { OperatorSession } from '../operator-session.js';
import { printResult } from './output.js';
import { COMMANDS } from './commands.js';

@Command(COMMANDS.migrate)
export class MigrateCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.withInfrastructure(async (configuration) => {
      printResult({ migrations: await migrateConfigured(configuration.get(DatabaseConfiguration)) });
    });
  }
}
