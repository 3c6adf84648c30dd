import type { INestApplicationContext } from '@nestjs/common';
import { Command, CommandRunner, Option, SubCommand } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { RequestLogHistory, RequestLogPartitions } from '../../modules/request-logs/index.js';
import { answer, EXIT, OperatorSession } from '../operator-session.js';
import { counted, exportRows, writeLines } from './exported-rows.js';
import { numberFrom } from './number.js';
import { requirePeriod, type PeriodOptions } from './period.js';
import { requestLogLine } from './request-log-line.js';

const DEFAULT_LINES = 20;
/** They are all in memory at the beginning. Whoever wants more exports a period. */
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
  description: 'Show the newest entries of a client and then those that come in, until it is stopped',
})
export class TailRequestLogCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(
    _arguments: string[],
    { client: id, lines = DEFAULT_LINES, json }: TailOptions,
  ): Promise<void> {
    return this.session.runUntilStopped(async (app, stopped) => {
      if (!Number.isInteger(lines) || lines > MAX_LINES)
        throw new OperatorError(`The lines must be 0 to ${MAX_LINES}.`);
      const client = await clientOf(app, id);
      const history = app.get(RequestLogHistory);
      const lineOf = json ? JSON.stringify : requestLogLine;
      await writeLines(history.follow(client, { lines, until: stopped }), lineOf);
    });
  }

  @Option({ flags: '--client <client_id>', description: 'the API client', required: true })
  client(value: string): string {
    return value;
  }

  @Option({
    flags: '--lines <number>',
    description: `how many entries to begin with: ${DEFAULT_LINES} when left out, at most ${MAX_LINES}`,
  })
  lines(value: string): number {
    return numberFrom(value);
  }

  @Option({ flags: '--json', description: 'each entry as JSON, as in an NDJSON export' })
  json(): boolean {
    return true;
  }
}

@SubCommand({
  name: 'export',
  description: 'Write the entries of a client in a period to standard output, oldest first',
})
export class ExportRequestLogCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(_arguments: string[], { client: id, format, ...bounds }: ExportOptions): Promise<void> {
    return this.session.run(async (app) => {
      const client = await clientOf(app, id);
      requirePeriod(bounds);
      const entries = app.get(RequestLogHistory).all(client, bounds);
      await exportRows(format, COLUMNS, counted(entries));
    });
  }

  @Option({ flags: '--client <client_id>', description: 'the API client', required: true })
  client(value: string): string {
    return value;
  }

  @Option({ flags: '--format <format>', description: 'csv or ndjson', required: true })
  format(value: string): string {
    return value;
  }

  @Option({
    flags: '--start <time>',
    description:
      'only entries of this time or later, as 2026-01-31T08:15:30Z: a day before the end when left out',
  })
  start(value: string): string {
    return value;
  }

  @Option({
    flags: '--end <time>',
    description: 'only entries of this time or earlier: the current time when left out',
  })
  end(value: string): string {
    return value;
  }
}

@SubCommand({
  name: 'partitions',
  description: 'Show the partitions of the log, and say what is wrong with them (exit code 1)',
})
export class ShowRequestLogPartitionsCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(): Promise<void> {
    return this.session.run(async (app) => {
      const { partitions, problems } = await app.get(RequestLogPartitions).inspect();
      answer(partitions);
      for (const problem of problems) {
        process.stderr.write(`${problem}\n`);
        process.exitCode = EXIT.failed;
      }
    });
  }
}

@Command({
  name: 'request-log',
  description: 'The request log: API calls of a client and attempts to deliver its webhooks',
  subCommands: [TailRequestLogCommand, ExportRequestLogCommand, ShowRequestLogPartitionsCommand],
})
export class RequestLogCommand extends CommandRunner {
  override async run(): Promise<void> {
    this.command.help();
  }
}

/** An entry as the API shows it, laid out flat. */
const COLUMNS = [
  'id',
  'type',
  'datetime',
  'method',
  'path',
  'url',
  'event',
  'status_code',
  'latency_ms',
  'session_id',
  'task_id',
  'external_user_id',
  'delivery.webhook_endpoint_id',
  'delivery.event_id',
  'delivery.attempt',
  'delivery.reason',
  'delivery.dns_ms',
  'delivery.connect_ms',
  'delivery.tls_ms',
  'delivery.first_byte_ms',
];

async function clientOf(app: INestApplicationContext, clientId: string): Promise<AttributedClient> {
  const { id, environment } = await app.get(ApiClientsService).require(clientId);
  return { clientId: id, environment };
}
