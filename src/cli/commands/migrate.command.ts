import { Command, CommandRunner } from 'nest-commander';
import { DatabaseConfiguration, migrateConfigured } from '../../infrastructure/database/index.js';
import { OperatorSession } from '../operator-session.js';
import { printResult } from './output.js';

@Command({ name: 'migrate', description: 'Update the schema of the database' })
export class MigrateCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.withConfiguration(async (configuration) => {
      printResult({ migrations: await migrateConfigured(configuration.get(DatabaseConfiguration)) });
    });
  }
}
