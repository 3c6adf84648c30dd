import { DatabaseConfiguration, migrateConfigured } from '../../infrastructure/database/index.js';
import { withInfrastructure } from '../command-process.js';
import { commandGroup } from '../operator-command.js';
import { printResult } from '../output.js';

export const MIGRATE_COMMAND = commandGroup('migrate').action(() =>
  withInfrastructure(async (configuration) => {
    printResult({ migrations: await migrateConfigured(configuration.get(DatabaseConfiguration)) });
  }),
);
