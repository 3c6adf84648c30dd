import { DatabaseConfiguration, distribute } from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { withConfiguration } from '../command-process.js';
import { printResult, printSentence } from '../output.js';

export function distributeRequestLog(shards: number | undefined, maxShards: number): Promise<void> {
  return withConfiguration(async (configuration) => {
    if (shards !== undefined && !(Number.isInteger(shards) && shards >= 1 && shards <= maxShards))
      throw new OperatorError(`The number of shards must be 1 to ${maxShards}.`);
    const options = { shards, report: printSentence };
    printResult({ tables: await distribute(configuration.get(DatabaseConfiguration), options) });
  });
}
