import { Command, CommandRunner } from 'nest-commander';
import { DatabaseConfiguration, migrate } from '../../infrastructure/database/index.js';
import { answer, OperatorSession } from '../operator-session.js';

@Command({ name: 'migrate', description: 'Bring the schema of the database up to date' })
export class MigrateCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.withFoundation(async (configuration) => {
      const { url = '', authority } = configuration.get(DatabaseConfiguration);
      answer({ migrations: await migrate(url, authority) });
    });
  }
}
