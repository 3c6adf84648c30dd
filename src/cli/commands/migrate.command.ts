import { DatabaseConfiguration, migrateConfigured } from '../../infrastructure/database/index.js';
import { command, COMMANDS } from '../operator-command.js';
import { withInfrastructure } from '../operator-session.js';
import { printResult } from '../output.js';

export const MIGRATE_COMMAND = command({ name: 'migrate', description: COMMANDS.migrate }, () =>
  withInfrastructure(async (configuration) => {
    printResult({ migrations: await migrateConfigured(configuration.get(DatabaseConfiguration)) });
  }),
);
