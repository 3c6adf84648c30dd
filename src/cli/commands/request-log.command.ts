import { OperatorError } from '../../infrastructure/errors/index.js';
import { printableJson, printableText } from '../../infrastructure/logging/index.js';
import { periodOf } from '../../infrastructure/time/index.js';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import {
  REQUEST_LOG_COLUMNS,
  RequestLogHistory,
  RequestLogPartitions,
  RequestLogRollupsService,
  type RequestLogHistoryEntry,
} from '../../modules/request-logs/index.js';
import { command, commandGroup, operatorCommand, option, parseNumber } from '../operator-command.js';
import { untilStopped } from '../operator-session.js';
import { EXIT, printResult, printSentence } from '../output.js';
import { CLIENT, FORMAT, requirePeriod, type PeriodOptions } from './options.js';
import { exportRows, recorded, withProgress, writeLines } from './rows.js';

const DEFAULT_LINES = 20;
/** `tail` keeps this many entries in memory; `export` has no limit. */
const MAX_LINES = 1_000;

interface ExportOptions extends PeriodOptions {
  readonly client: string;
  readonly format: string;
}

interface TailOptions {
  readonly client: string;
  readonly lines?: number;
  readonly json?: boolean;
}

const tail = command<TailOptions>(
  {
    name: 'tail',
    description:
      'Show the newest entries of a client, then new ones as they arrive, until you stop the command',
    options: {
      client: CLIENT,
      lines: option(
        '--lines <number>',
        `number of entries to show first, at most ${MAX_LINES} (default: ${DEFAULT_LINES})`,
        parseNumber,
      ),
      json: option('--json', 'print each entry as JSON, as in an NDJSON export'),
    },
  },
  ({ client: id, lines = DEFAULT_LINES, json }) =>
    untilStopped(async (app, stopped) => {
      if (!Number.isInteger(lines) || lines > MAX_LINES)
        throw new OperatorError(`The number of lines must be 0 to ${MAX_LINES}.`);
      const { id: clientId, environment } = await app.get(ApiClientsService).require(id);
      const client = { clientId, environment };
      const entries = app.get(RequestLogHistory).follow(client, { lines, until: stopped });
      await writeLines(entries, json ? printableJson : requestLogLine);
    }),
);

const exportEntries = operatorCommand<ExportOptions>(
  {
    name: 'export',
    description: 'Write the entries of a client to standard output, oldest first',
    options: {
      client: CLIENT,
      format: FORMAT,
      start: option(
        '--start <time>',
        'only entries at or after this time, such as 2026-01-31T08:15:30Z (default: one day before the end)',
      ),
      end: option('--end <time>', 'only entries at or before this time (default: now)'),
    },
  },
  async (app, { client: id, format, ...bounds }) => {
    const { id: clientId, organizationId, environment } = await app.get(ApiClientsService).require(id);
    requirePeriod(bounds);
    const exported = { organizationId, action: 'request_log.export', target: { environment } } as const;
    const entries = app.get(RequestLogHistory).all({ clientId, environment }, bounds);
    await exportRows(format, REQUEST_LOG_COLUMNS, withProgress(recorded(app, exported, entries)));
  },
);

const showPartitions = operatorCommand(
  {
    name: 'partitions',
    description: 'Show the partitions of the log; exits with code 1 and names the problems if there are any',
  },
  async (app) => {
    const { partitions, problems } = await app.get(RequestLogPartitions).inspect();
    printResult(partitions);
    for (const problem of problems) {
      printSentence(problem);
      process.exitCode = EXIT.failed;
    }
  },
);

const rebuildRollups = operatorCommand<PeriodOptions>(
  {
    name: 'rebuild-rollups',
    description:
      'Count the entries of a period again for the overview of the dashboard. You can safely repeat the command',
    options: {
      start: option(
        '--start <time>',
        'the start of the period, such as 2026-01-31T00:00:00Z (default: the oldest entry)',
      ),
      end: option('--end <time>', 'the end of the period (default: now)'),
    },
  },
  async (app, bounds) => {
    requirePeriod(bounds);
    return app.get(RequestLogRollupsService).rebuild(periodOf(bounds));
  },
);

export const REQUEST_LOG_COMMAND = commandGroup(
  'request-log',
  tail,
  exportEntries,
  showPartitions,
  rebuildRollups,
);

function requestLogLine(entry: RequestLogHistoryEntry): string {
  const { delivery } = entry;
  const parts = [
    entry.datetime.toISOString(),
    entry.type.padEnd('webhook'.length),
    entry.method,
    String(entry.status_code).padStart(3),
    `${String(entry.latency_ms).padStart(5)} ms`,
    entry.path ?? `${entry.event} ${entry.url}`,
    ...(entry.external_user_id === null ? [] : [`user=${entry.external_user_id}`]),
    ...(delivery ? [`attempt=${delivery.attempt}`] : []),
    ...(delivery?.reason ? [`reason=${delivery.reason}`] : []),
  ];
  return printableText(parts.join(' '));
}
