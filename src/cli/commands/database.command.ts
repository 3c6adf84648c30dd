import { command, commandGroup, option, parseNumber, requiredOption } from '../operator-command.js';
import { EXIT, printResult, printSentence } from '../output.js';
import { DEFAULTS, sizingOf, type ExpectedLoad } from '../sizing.js';

const HOURS_PER_DAY = 24;
const DEFAULT_DAYS = DEFAULTS.retentionDays;

interface SizeOptions {
  readonly rps: number;
  readonly days?: number;
  readonly webhooks?: number;
  readonly tokens?: number;
  readonly tokenHours?: number;
  readonly peak?: number;
}

const sizeDatabase = command<SizeOptions>(
  {
    name: 'size',
    description: 'Calculate the disk space, processes and connections that an expected load needs',
    options: {
      rps: requiredOption('--rps <number>', 'API requests per second, on average over a day', parseNumber),
      days: option(
        '--days <number>',
        `days that log entries and events are kept (default: ${DEFAULT_DAYS})`,
        parseNumber,
      ),
      webhooks: option(
        '--webhooks <number>',
        'webhook delivery attempts per second (default: 0)',
        parseNumber,
      ),
      tokens: option(
        '--tokens <number>',
        'MCP tokens that the requests create per second (default: 0)',
        parseNumber,
      ),
      tokenHours: option('--token-hours <number>', 'lifetime of an MCP token (default: 24)', parseNumber),
      peak: option(
        '--peak <number>',
        'how many times the average the busiest minute is (default: 3)',
        parseNumber,
      ),
    },
  },
  async (options) => {
    const invalid = Object.entries(options).find(([, value]) => Number.isNaN(value));
    if (invalid) {
      printSentence(`The value of ${flagOf(invalid[0])} must be a number, such as 500 or 0.5.`);
      process.exitCode = EXIT.failed;
      return;
    }
    const { rps, days = DEFAULT_DAYS, webhooks = 0, tokens = 0, tokenHours = 24, peak = 3 } = options;
    const load: ExpectedLoad = {
      requests: rps,
      deliveryAttempts: webhooks,
      tokens,
      tokenDays: tokenHours / HOURS_PER_DAY,
      retentionDays: days,
      peak,
    };
    printResult(sizingOf(load));
  },
);

function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

const MAX_SHARDS = 1_024;

const distributeDatabase = command<{ readonly shards?: number }>(
  {
    name: 'distribute',
    description:
      'Distribute the request log over the worker nodes of Citus. Stop the service first unless the log is empty. You can safely repeat the command',
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
