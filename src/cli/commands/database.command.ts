import { command, commandGroup, option, parseNumber } from '../operator-command.js';
import { sizeDatabase } from './size-database.command.js';

const MAX_SHARDS = 1_024;

const distributeDatabase = command<{ readonly shards?: number }>(
  {
    name: 'distribute',
    description:
      'Distribute the request log over the worker nodes of Citus while the service runs. You can safely repeat the command; it continues an interrupted move',
    options: {
      shards: option(
        '--shards <number>',
        `number of shards of each day, 1 to ${MAX_SHARDS} (default: 4 for each node)`,
        parseNumber,
      ),
    },
  },
  async ({ shards }) => {
    // Not needed for `database size`, and slow to load.
    const { distributeRequestLog } = await import('./distribute-database.js');
    await distributeRequestLog(shards, MAX_SHARDS);
  },
);

export const DATABASE_COMMAND = commandGroup('database', sizeDatabase, distributeDatabase);
