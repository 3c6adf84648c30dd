import type { INestApplicationContext } from '@nestjs/common';
import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
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
import { EXIT } from '../exit.js';
import { OperatorSession } from '../operator-session.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { printResult, printSentence } from './output.js';
import { exportRows, recorded, withProgress, writeLines } from './rows.js';
import { CLIENT, FORMAT, Options, parseNumber, requirePeriod, type PeriodOptions } from './options.js';
import { COMMANDS } from './commands.js';

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

@SubCommand({
  name: 'tail',
  description:
    'Show the newest entries of a client, then new ones as they arrive, until you stop the command',
})
@Options({
  client: CLIENT,
  lines: {
    flags: '--lines <number>',
    description: `number of entries to show first, at most ${MAX_LINES} (default: ${DEFAULT_LINES})`,
    parse: parseNumber,
  },
  json: { flags: '--json', description: 'print each entry as JSON, as in an NDJSON export' },
})
class TailRequestLogCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(
    _arguments: string[],
    { client: id, lines = DEFAULT_LINES, json }: TailOptions,
  ): Promise<void> {
    return this.session.runUntilStopped(async (app, stopped) => {
      if (!Number.isInteger(lines) || lines > MAX_LINES)
        throw new OperatorError(`The number of lines must be 0 to ${MAX_LINES}.`);
      const client = await findClient(app, id);
      const history = app.get(RequestLogHistory);
      const lineOf = json ? printableJson : requestLogLine;
      await writeLines(history.follow(client, { lines, until: stopped }), lineOf);
    });
  }
}

@SubCommand({ name: 'export', description: 'Write the entries of a client to standard output, oldest first' })
@Options({
  client: CLIENT,
  format: FORMAT,
  start: {
    flags: '--start <time>',
    description:
      'only entries at or after this time, such as 2026-01-31T08:15:30Z (default: one day before the end)',
  },
  end: { flags: '--end <time>', description: 'only entries at or before this time (default: now)' },
})
class ExportRequestLogCommand extends OperatorCommand {
  protected async execute(
    app: INestApplicationContext,
    { client: id, format, ...bounds }: ExportOptions,
  ): Promise<void> {
    const client = await findClient(app, id);
    requirePeriod(bounds);
    const { organizationId } = await app.get(ApiClientsService).require(id);
    const target = { environment: client.environment };
    const exported = { organizationId, action: 'request_log.export', target } as const;
    const entries = app.get(RequestLogHistory).all(client, bounds);
    await exportRows(format, REQUEST_LOG_COLUMNS, withProgress(recorded(app, exported, entries)));
  }
}

@SubCommand({
  name: 'partitions',
  description: 'Show the partitions of the log; exits with code 1 and names the problems if there are any',
})
class ShowRequestLogPartitionsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext): Promise<void> {
    const { partitions, problems } = await app.get(RequestLogPartitions).inspect();
    printResult(partitions);
    for (const problem of problems) {
      printSentence(problem);
      process.exitCode = EXIT.failed;
    }
  }
}

@SubCommand({
  name: 'rebuild-rollups',
  description:
    'Count the entries of a period again for the overview of the dashboard. You can safely repeat the command',
})
@Options({
  start: {
    flags: '--start <time>',
    description: 'the start of the period, such as 2026-01-31T00:00:00Z (default: the oldest entry)',
  },
  end: { flags: '--end <time>', description: 'the end of the period (default: now)' },
})
class RebuildRollupsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, bounds: PeriodOptions): Promise<void> {
    requirePeriod(bounds);
    printResult(await app.get(RequestLogRollupsService).rebuild(periodOf(bounds)));
  }
}

@Command({
  ...COMMANDS['request-log'],
  subCommands: [
    TailRequestLogCommand,
    ExportRequestLogCommand,
    ShowRequestLogPartitionsCommand,
    RebuildRollupsCommand,
  ],
})
export class RequestLogCommand extends CommandGroup {}

async function findClient(app: INestApplicationContext, clientId: string): Promise<AttributedClient> {
  const { id, environment } = await app.get(ApiClientsService).require(clientId);
  return { clientId: id, environment };
}

/** Formats an entry as one readable line. */
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
