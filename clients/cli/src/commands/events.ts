import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { followEvents, type MerchantConnectivity } from '@merchant-connectivity/sdk';
import { isTemporary } from '../failures.js';
import { styled, timeOf, type Line } from '../output.js';
import {
  action,
  countOf,
  first,
  stoppedByUser,
  timeOption,
  withListOptions,
  type ListOptions,
  type Session,
} from '../program.js';

type Query = NonNullable<Parameters<MerchantConnectivity['readWebhookEvents']>[0]>;
type Event = Awaited<ReturnType<MerchantConnectivity['readWebhookEvents']>>['data'][number];

const MAX_EVENTS_PER_PAGE = 100;
/** Milliseconds. */
const RETRY_DELAY = 1_000;

interface FilterOptions {
  readonly event?: readonly string[];
  readonly user?: string;
  readonly start?: string;
  readonly cursor?: string;
}

export function addEvents(program: Command): void {
  const events = program
    .command('events')
    .description('events of your client, whether or not they were received');
  const withFilters = (command: Command): Command =>
    command
      .option('--event <names...>', 'only events with these names')
      .option('--user <id>', 'only events about this user of yours')
      .option('--start <time>', 'from this time on, such as 2026-01-31T08:00:00Z, or 2h for two hours ago')
      .option('--cursor <cursor>', 'continue after this cursor');
  withListOptions(withFilters(events.command('list')))
    .description('list events, oldest first')
    .action(action(list));
  withFilters(events.command('tail'))
    .description('show events as they are published; without --start and --cursor, from now on')
    .action(action(tail));
}

function queryOf({ event, user, start, cursor }: FilterOptions): Query {
  return {
    ...(event && { event: event as NonNullable<Query['event']> }),
    ...(user !== undefined && { external_user_id: user }),
    ...(start !== undefined && { start: timeOption('--start', start) as string }),
    ...(cursor !== undefined && { cursor }),
  };
}

async function list(session: Session, options: FilterOptions & ListOptions): Promise<void> {
  const count = countOf(options);
  const query = { ...queryOf(options), wait: 0, limit: Math.max(1, Math.min(MAX_EVENTS_PER_PAGE, count)) };
  session.output.table(await first(count, eventsOf(session, query)), {
    id: ({ id }: Event) => id,
    time: ({ created_at: time }: Event) => timeOf(time),
    event: ({ event }: Event) => event,
    body: ({ body }: Event) => body ?? 'erased',
  });
}

async function* eventsOf(session: Session, query: Query): AsyncGenerator<Event> {
  for await (const { data } of followEvents(session.platform(), query)) yield* data;
}

async function tail(session: Session, options: FilterOptions): Promise<void> {
  const { output } = session;
  const client = session.platform();
  const { start = new Date().toISOString(), ...filters } = queryOf(options);
  let query: Query = { ...filters, ...(filters.cursor === undefined && { start }) };
  const { signal } = stoppedByUser();
  for (let isInterrupted = false; !signal.aborted;) {
    try {
      for await (const page of followEvents(client, query, { signal })) {
        if (isInterrupted) output.progress('Connected again.');
        isInterrupted = false;
        for (const event of page.data) output.result(event, lineOf(event));
        query = { ...filters, cursor: page.next_cursor };
      }
    } catch (error) {
      if (signal.aborted) break;
      if (!isTemporary(error)) throw error;
      if (!isInterrupted) output.progress(`${(error as Error).message} Trying again…`);
      isInterrupted = true;
      await sleep(RETRY_DELAY, undefined, { signal }).catch(() => undefined);
    }
  }
  if (query.cursor != null)
    output.progress(
      `Stopped. To continue here with the same filters: mcs events tail --cursor ${query.cursor}`,
    );
}

function lineOf({ id, event, created_at: time, body }: Event): Line {
  return [styled('dim', timeOf(time)), event, styled('dim', id), body ?? 'erased'];
}
