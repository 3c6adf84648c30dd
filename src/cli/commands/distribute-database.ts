import { DatabaseConfiguration, distribute } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import {
  REQUEST_LOG_ROLLUPS_JOB,
  REQUEST_LOG_ROTATION,
  RequestLogsConfiguration,
} from '../../modules/request-logs/index.js';
import { withConfiguration } from '../operator-session.js';
import { printResult, printSentence } from '../output.js';

/** Distributes the request log, and prints what happened to each table. */
export function distributeRequestLog(shards: number | undefined, maxShards: number): Promise<void> {
  return withConfiguration(async (configuration) => {
    if (shards !== undefined && !(Number.isInteger(shards) && shards >= 1 && shards <= maxShards))
      throw new OperatorError(`The number of shards must be 1 to ${maxShards}.`);
    const clock = new Clock();
    const tables = await distribute(configuration.get(DatabaseConfiguration), {
      shards,
      retentionDays: configuration.get(RequestLogsConfiguration).retentionDays,
      now: () => clock.now(),
      rotationJob: REQUEST_LOG_ROTATION,
      readingJob: REQUEST_LOG_ROLLUPS_JOB,
      report: printSentence,
    });
    printResult({ tables });
  });
}
