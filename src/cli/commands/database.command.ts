import type { Command } from 'commander';
import { commandGroup, parseNumber } from '../operator-command.js';
import { EXIT, printResult, printSentence } from '../output.js';
import { DEFAULTS, sizingOf } from '../sizing.js';

const HOURS_PER_DAY = 24;
const MAX_SHARDS = 1_024;

type SizeOptions = Record<'rps' | 'days' | 'webhooks' | 'tokens' | 'tokenHours' | 'peak', number>;

export const DATABASE_COMMAND = commandGroup('database');

DATABASE_COMMAND.command('size')
  .description('Calculate the disk space, processes and connections that an expected load needs')
  .requiredOption('--rps <number>', 'API requests per second, on average over a day', parseNumber)
  .option('--days <number>', 'days that log entries and events are kept', parseNumber, DEFAULTS.retentionDays)
  .option('--webhooks <number>', 'webhook delivery attempts per second', parseNumber, 0)
  .option('--tokens <number>', 'MCP tokens that the requests create per second', parseNumber, 0)
  .option('--token-hours <number>', 'lifetime of an MCP token', parseNumber, 24)
  .option('--peak <number>', 'how many times the average the busiest minute is', parseNumber, 3)
  .action((options: SizeOptions, command: Command) => {
    const invalid = command.options.find((option) =>
      Number.isNaN(command.getOptionValue(option.attributeName())),
    );
    if (invalid) {
      printSentence(`The value of ${invalid.long} must be a number, such as 500 or 0.5.`);
      process.exitCode = EXIT.failed;
      return;
    }
    const { rps, days, webhooks, tokens, tokenHours, peak } = options;
    printResult(
      sizingOf({
        requests: rps,
        deliveryAttempts: webhooks,
        tokens,
        tokenDays: tokenHours / HOURS_PER_DAY,
        retentionDays: days,
        peak,
      }),
    );
  });

DATABASE_COMMAND.command('distribute')
  .description(
    'Distribute the request log over the worker nodes of Citus. Stop the service first unless the log is empty. You can safely repeat the command',
  )
  .option(
    '--shards <number>',
    `number of shards of each day, 1 to ${MAX_SHARDS} (default: 4 for each node)`,
    parseNumber,
  )
  .action(async ({ shards }: { readonly shards?: number }) => {
    // Not needed for `database size`, and slow to load.
    const { distributeRequestLog } = await import('./distribute-request-log.js');
    await distributeRequestLog(shards, MAX_SHARDS);
  });
