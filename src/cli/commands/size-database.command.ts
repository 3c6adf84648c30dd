import { command, parseNumber } from '../operator-command.js';
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

export const sizeDatabase = command<SizeOptions>(
  {
    name: 'size',
    description: 'Calculate the disk space, processes and connections that an expected load needs',
    options: {
      rps: {
        flags: '--rps <number>',
        description: 'API requests per second, on average over a day',
        required: true,
        parse: parseNumber,
      },
      days: {
        flags: '--days <number>',
        description: `days that log entries and events are kept (default: ${DEFAULT_DAYS})`,
        parse: parseNumber,
      },
      webhooks: {
        flags: '--webhooks <number>',
        description: 'webhook delivery attempts per second (default: 0)',
        parse: parseNumber,
      },
      tokens: {
        flags: '--tokens <number>',
        description: 'MCP tokens that the requests create per second (default: 0)',
        parse: parseNumber,
      },
      tokenHours: {
        flags: '--token-hours <number>',
        description: 'lifetime of an MCP token (default: 24)',
        parse: parseNumber,
      },
      peak: {
        flags: '--peak <number>',
        description: 'how many times the average the busiest minute is (default: 3)',
        parse: parseNumber,
      },
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
