import { Logger as ServiceLogger } from '@nestjs/common';
import type { Logger } from 'typeorm';

const IGNORED = (): void => undefined;

/**
 * Logs TypeORM's messages about migrations as structured lines. Ignores all others: a failed statement also rejects.
 */
export const TYPEORM_LOGGER: Logger = {
  logQuery: IGNORED,
  logQueryError: IGNORED,
  logQuerySlow: IGNORED,
  logSchemaBuild: IGNORED,
  logMigration: (message) => new ServiceLogger('Database').log(message),
  log: IGNORED,
};
