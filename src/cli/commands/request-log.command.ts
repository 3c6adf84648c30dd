import type { INestApplicationContext } from '@nestjs/common';
import {
  countMisplaced,
  DailyPartitions,
  type PartitionStatus,
} from '../../infrastructure/database/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { printableJson, printableText } from '../../infrastructure/logging/index.js';
import { Clock, DAY, periodOf } from '../../infrastructure/time/index.js';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import {
  REQUEST_LOG_COLUMNS,
  OperatorRequestLog,
  RequestLogRollupsService,
  type RequestLogEntry,
} from '../../modules/request-logs/index.js';
import { untilStopped } from '../command-process.js';
import { commandGroup, parseNumber } from '../operator-command.js';
import { EXIT, printResult, printSentence } from '../output.js';
import { CLIENT, FORMAT, readPeriod, type PeriodOptions } from './options.js';
import { exportRows, withAuditEntry, withProgress, writeLines } from './rows.js';

/** `tail` keeps this many entries in memory; `export` has no limit. */
const MAX_LINES = 1_000;

interface ExportOptions extends PeriodOptions {
  readonly client: string;
  readonly format: string;
}

interface TailOptions {
  readonly client: string;
  readonly lines: number;
  readonly json?: boolean;
}

export const REQUEST_LOG_COMMAND = commandGroup('request-log');

REQUEST_LOG_COMMAND.command('tail')
  .description(
    'Show the newest entries of a client, then new ones as they arrive, until you stop the command',
  )
  .addOption(CLIENT)
  .option('--lines <number>', `number of entries to show first, at most ${MAX_LINES}`, parseNumber, 20)
  .option('--json', 'print each entry as JSON, as in an NDJSON export')
  .action(({ client: id, lines, json }: TailOptions) =>
    untilStopped(async (app, stopped) => {
      if (!Number.isInteger(lines) || lines > MAX_LINES)
        throw new OperatorError(`The number of lines must be 0 to ${MAX_LINES}.`);
      const { client, change } = await readingOf(app, id);
      const entries = app.get(OperatorRequestLog).follow(client, { lines, until: stopped });
      await writeLines(withAuditEntry(app, change, entries), json ? printableJson : requestLogLine);
    }),
  );

REQUEST_LOG_COMMAND.command('export')
  .description('Write the entries of a client to standard output, oldest first')
  .addOption(CLIENT)
  .addOption(FORMAT)
  .option(
    '--start <time>',
    'only entries at or after this time, such as 2026-01-31T08:15:30Z (default: one day before the end)',
  )
  .option('--end <time>', 'only entries at or before this time (default: now)')
  .onApplication<ExportOptions>(async (app, { client: id, format, ...bounds }) => {
    const { client, change } = await readingOf(app, id);
    const entries = app.get(OperatorRequestLog).all(client, readPeriod(bounds));
    await exportRows(format, REQUEST_LOG_COLUMNS, withProgress(withAuditEntry(app, change, entries)));
  });

REQUEST_LOG_COMMAND.command('partitions')
  .description('Show the partitions of the log; exits with code 1 and names the problems if there are any')
  .onApplication(async (app) => {
    const partitions = await app.get(DailyPartitions).status('request_log');
    printResult(partitions);
    for (const problem of problemsOf(partitions, app.get(Clock).milliseconds())) {
      printSentence(problem);
      process.exitCode = EXIT.failed;
    }
  });

/** Returns the client whose log an operator reads, and what the audit log says of that. */
async function readingOf(app: INestApplicationContext, id: string) {
  const {
    id: clientId,
    organizationId,
    environment,
  } = await app.get(ApiClientsService).requireForOperator(id);
  const change = { organizationId, action: 'request_log.export', target: { environment } } as const;
  return { client: { clientId, environment }, change };
}

/** Returns a sentence about each problem: a day that has no partition, and entries for such days. */
function problemsOf(partitions: readonly PartitionStatus[], now: number): string[] {
  const days = { today: new Date(now), tomorrow: new Date(now + DAY) };
  const missing = Object.entries(days).filter(
    ([, time]) => !partitions.some(({ from, to }) => from && to && from <= time && time < to),
  );
  const misplaced = countMisplaced(partitions);
  return [
    ...missing.map(
      ([name, time]) =>
        `There is no partition for ${name}, ${time.toISOString().slice(0, 10)}. Start a process with ` +
        'BACKGROUND_WORK=on or worker.js; it creates the partition.',
    ),
    ...(misplaced > 0
      ? [
          `The default partition contains ${misplaced === 1 ? '1 entry' : `${misplaced} entries`} for days that ` +
            'have no partition. Check that a process runs the background work and that all clocks are correct.',
        ]
      : []),
  ];
}

REQUEST_LOG_COMMAND.command('rebuild-rollups')
  .description(
    'Count the entries of a period again for the overview of the dashboard. You can safely repeat the command',
  )
  .option(
    '--start <time>',
    'the start of the period, such as 2026-01-31T00:00:00Z (default: the oldest entry)',
  )
  .option('--end <time>', 'the end of the period (default: now)')
  .onApplication<PeriodOptions>(async (app, bounds) =>
    app.get(RequestLogRollupsService).rebuild(periodOf(readPeriod(bounds))),
  );

function requestLogLine(entry: RequestLogEntry): string {
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
