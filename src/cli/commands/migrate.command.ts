import { Command, CommandRunner } from 'nest-commander';
import { DatabaseConfiguration, migrate } from '../../infrastructure/database/index.js';
import { OperatorSession } from '../operator-session.js';
import { printResult } from './output.js';

@Command({ name: 'migrate', description: 'Update the schema of the database' })
export class MigrateCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.withConfiguration(async (configuration) => {
      const { url = '', authority, startTimeoutMilliseconds } = configuration.get(DatabaseConfiguration);
      printResult({ migrations: await migrate(url, authority, startTimeoutMilliseconds) });
    });
  }
}
