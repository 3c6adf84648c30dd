import { DatabaseConfiguration, migrateConfigured } from '../../infrastructure/database/index.js';
import { commandGroup } from '../operator-command.js';
import { withInfrastructure } from '../operator-session.js';
import { printResult } from '../output.js';

export const MIGRATE_COMMAND = commandGroup('migrate').action(() =>
  withInfrastructure(async (configuration) => {
    printResult({ migrations: await migrateConfigured(configuration.get(DatabaseConfiguration)) });
  }),
);
