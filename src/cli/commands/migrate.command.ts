import { Command, CommandRunner } from 'nest-commander';
import { processEnvironment } from '../../infrastructure/config/index.js';
import { DatabaseConfiguration, migrate } from '../../infrastructure/database/index.js';
import { layFoundation, plainSentence } from '../../infrastructure/foundation/index.js';
import { answer, EXIT } from '../operator-session.js';

@Command({ name: 'migrate', description: 'Bring the schema of the database up to date' })
export class MigrateCommand extends CommandRunner {
  /** Without the application, which would not come up on an old schema. */
  override async run(): Promise<void> {
    const tell = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
    try {
      const { configuration, release } = await layFoundation(processEnvironment(), tell);
      try {
        answer({ migrations: await migrate(configuration.get(DatabaseConfiguration).url ?? '') });
      } finally {
        await release();
      }
    } catch (error) {
      tell(plainSentence(error));
      process.exitCode = EXIT.failed;
    }
  }
}
