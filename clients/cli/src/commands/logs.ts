import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiError } from '@merchant-connectivity/sdk';
import { isTemporary } from '../failures.js';
import { LogTail, type LogEntry, type LogFilters } from '../log-tail.js';
import { fieldsOf, styled, styledStatus, timeOf, type Line } from '../output.js';
import {
  action,
  countOf,
  first,
  integerOption,
  timeOption,
  withListOptions,
  type ListOptions,
  type Session,
} from '../program.js';

/** Milliseconds. */
const RETRY_DELAY = 2_000;
const MAX_ENTRIES_PER_PAGE = 50;

interface FilterOptions {
  readonly environment?: string;
  readonly type?: string;
  readonly start?: string;
  readonly end?: string;
  readonly session?: string;
  readonly task?: string;
  readonly user?: string;
  readonly event?: string;
  readonly status?: string;
  readonly outcome?: string;
  readonly errorCode?: string;
  readonly requestId?: string;
  readonly key?: string;
  readonly endpoint?: string;
  readonly eventId?: string;
}

export function addLogs(program: Command): void {
  const logs = program.command('logs').description('the request log');
  const withFilters = (command: Command): Command =>
    command
      .option('--environment <name>', 'development or production; default: that of the login')
      .option('--type <type>', 'request or webhook')
      .option('--session <id>', 'entries of this session')
      .option('--task <id>', 'entries of this task')
      .option('--user <id>', 'entries of this user')
      .option('--event <name>', 'deliveries of this event')
      .option('--status <code>', 'entries with this status code; 0: no response')
      .option('--outcome <outcome>', 'success or failure')
      .option('--error-code <code>', 'requests whose response has this error_code')
      .option('--request-id <id>', 'requests with this X-Request-Id')
      .option('--key <name>', 'requests that were sent with the API key of this name')
      .option('--endpoint <id>', 'deliveries to this webhook endpoint')
      .option('--event-id <id>', 'deliveries of the event with this id');
  withListOptions(withFilters(logs.command('list')))
    .description('list entries, newest first')
    .option('--start <time>', 'from this time on, such as 2026-01-31T08:00:00Z, or 2h for two hours ago')
    .option('--end <time>', 'up to this time')
    .action(action(list));
  withFilters(logs.command('tail'))
    .description('show new entries as they are added')
    .option('--lines <number>', 'begin with this many older entries', '10')
    .action(action(tail));
  logs.command('get <id>').description('show one entry').action(action(get));
}

function filtersOf(session: Session, options: FilterOptions): LogFilters {
  const filters = {
    environment: session.environment(options.environment),
    type: options.type,
    start: timeOption('--start', options.start),
    end: timeOption('--end', options.end),
    session_id: options.session,
    task_id: integerOption('--task', options.task),
    external_user_id: options.user,
    event: options.event,
    status_code: integerOption('--status', options.status),
    outcome: options.outcome,
    error_code: options.errorCode,
    request_id: options.requestId,
    api_key: options.key,
    endpoint_id: options.endpoint,
    event_id: options.eventId,
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as LogFilters;
}

async function list(
  session: Session,
  { limit, all, ...options }: FilterOptions & ListOptions,
): Promise<void> {
  const count = countOf({ limit, ...(all && { all }) });
  const pages = session.dashboard().listRequestLogs({
    ...filtersOf(session, options),
    limit: Math.max(1, Math.min(MAX_ENTRIES_PER_PAGE, count)),
  });
  const entries = await first(count, pages);
  session.output.table(entries, {
    id: ({ id }: LogEntry) => id,
    time: ({ datetime }: LogEntry) => timeOf(datetime),
    status: ({ status_code: status }: LogEntry) => status,
    ms: ({ latency_ms: latency }: LogEntry) => latency,
    what: subjectOf,
    reason: reasonOf,
    user: ({ external_user_id: user }: LogEntry) => user,
  });
}

async function tail(
  session: Session,
  { lines, ...options }: FilterOptions & { readonly lines: string },
): Promise<void> {
  const { output, tokens } = session;
  const log = new LogTail(
    session.dashboard(() => tokens.currentOrNew()),
    filtersOf(session, options),
  );
  const count = integerOption('--lines', lines) ?? 0;
  const show = (entries: readonly LogEntry[]): void => {
    for (const entry of entries) output.result(entry, lineOf(entry));
  };
  let hasBegun = false;
  let isInterrupted = false;
  for (;;) {
    if (hasBegun || isInterrupted) await sleep(isInterrupted ? RETRY_DELAY : log.interval);
    try {
      show(hasBegun ? await log.look() : await log.begin(count));
      hasBegun = true;
      if (isInterrupted) output.progress('Connected again.');
      isInterrupted = false;
    } catch (error) {
      if (!isInterrupted && isTemporary(error)) output.progress(`${(error as Error).message} Trying again…`);
      if (
        error instanceof ApiError &&
        error.status === 401 &&
        !process.env['MCS_ACCESS_TOKEN'] &&
        !process.env['MCS_API_KEY']
      )
        tokens.discard();
      else if (isTemporary(error)) isInterrupted = true;
      else throw error;
    }
  }
}

async function get(session: Session, _options: object, id = ''): Promise<void> {
  const entry = await session.dashboard().getRequestLog(id);
  session.output.result(entry, ...fieldsOf(entry));
}

function subjectOf({ method, path, tool, event, url }: LogEntry): string {
  if (path === null) return `${event} → ${url}`;
  return [method, path, ...(tool === null ? [] : [tool])].join(' ');
}

/** Why a delivery attempt or a request failed. */
function reasonOf({ reason, error_code: code }: LogEntry): string | null {
  return reason ?? code;
}

function lineOf(entry: LogEntry): Line {
  const { datetime, status_code: status, latency_ms: latency, external_user_id: user } = entry;
  const reason = reasonOf(entry);
  return [
    styled('dim', timeOf(datetime)),
    styledStatus(status),
    `${latency} ms`.padStart(7),
    subjectOf(entry),
    ...(reason === null ? [] : [styled('red', reason)]),
    ...(user === null ? [] : [styled('dim', user)]),
  ];
}
