import { Logger as ServiceLogger } from '@nestjs/common';
import type { Logger } from 'typeorm';

const IGNORED = (): void => undefined;

/** Passes on what TypeORM reports about migrations, which it would print as text. Failed statements reject. */
export const TYPEORM_LOGGER: Logger = {
  logQuery: IGNORED,
  logQueryError: IGNORED,
  logQuerySlow: IGNORED,
  logSchemaBuild: IGNORED,
  logMigration: (message) => new ServiceLogger('Database').log(message),
  log: IGNORED,
};
