import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { DatabaseConfiguration, distribute } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import {
  REQUEST_LOG_ROLLUPS_JOB,
  REQUEST_LOG_ROTATION,
  RequestLogsConfiguration,
} from '../../modules/request-logs/index.js';
import { OperatorSession } from '../operator-session.js';
import { CommandGroup } from './command-group.js';
import { Options, parseNumber } from './options.js';
import { printResult, printSentence } from './output.js';
import { SizeDatabaseCommand } from './size-database.command.js';
import { COMMANDS } from './commands.js';

const MAX_SHARDS = 1_024;

interface DistributeOptions {
  readonly shards?: number;
}

@SubCommand({
  name: 'distribute',
  description:
    'Distribute the request log over the worker nodes of Citus while the service runs. You can safely repeat the command; it continues an interrupted move',
})
@Options({
  shards: {
    flags: '--shards <number>',
    description: `number of shards of each day, 1 to ${MAX_SHARDS} (default: 4 for each node)`,
    parse: parseNumber,
  },
})
class DistributeDatabaseCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(_arguments: string[], { shards }: DistributeOptions): Promise<void> {
    return this.session.withConfiguration(async (configuration) => {
      if (shards !== undefined && !(Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS))
        throw new OperatorError(`The number of shards must be 1 to ${MAX_SHARDS}.`);
      const { retentionDays } = configuration.get(RequestLogsConfiguration);
      const clock = new Clock();
      const tables = await distribute(configuration.get(DatabaseConfiguration), {
        shards,
        retentionDays,
        now: () => clock.now(),
        rotationJob: REQUEST_LOG_ROTATION,
        readingJob: REQUEST_LOG_ROLLUPS_JOB,
        report: printSentence,
      });
      printResult({ tables });
    });
  }
}

@Command({ ...COMMANDS.database, subCommands: [SizeDatabaseCommand, DistributeDatabaseCommand] })
export class DatabaseCommand extends CommandGroup {}
