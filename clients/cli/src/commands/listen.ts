import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiError } from '@merchant-connectivity/sdk';
import { EventStream, type StreamedEvent } from '../event-stream.js';
import { isTemporary, usage } from '../failures.js';
import { forward } from '../forward.js';
import { styled, styledStatus } from '../output.js';
import { action, integerOption, stoppedByUser, type Session } from '../program.js';

/** Milliseconds before the next connection; doubled each time, up to the second one. */
const [FIRST_DELAY, MAX_DELAY] = [250, 2_000];

export function addListen(program: Command): void {
  program
    .command('listen')
    .description('receive the webhooks of the development environment on this machine')
    .option('--forward-to <url>', 'send each event to this local server, with the original headers and body')
    .option('--after <id>', 'begin after this event instead of now')
    .option('--count <number>', 'stop after this many events')
    .action(action(listen));
}

interface ListenOptions {
  readonly forwardTo?: string;
  readonly after?: string;
  readonly count?: string;
}

async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { output, settings } = session;
  const target = targetOf(options.forwardTo);
  const count = integerOption('--count', options.count) ?? Infinity;
  const stopped = stoppedByUser();
  const stream = new EventStream(session.platform(), options.after, stopped.signal);
  let [received, delay, wasReady] = [0, FIRST_DELAY, false];
  const handlers = {
    onReady: (): void => {
      delay = FIRST_DELAY;
      if (wasReady) output.progress('Connected again.');
      else output.progress(`Listening to the events of ${settings.baseUrl}. Press Ctrl+C to stop.`);
      wasReady = true;
    },
    onEvent: async (event: StreamedEvent): Promise<void> => {
      await show(session, event, target);
      received += 1;
      if (received >= count) stopped.abort();
    },
  };
  while (!stopped.signal.aborted) {
    try {
      await stream.read(handlers);
      if (!stopped.signal.aborted) output.progress('The service has ended the stream. Connecting again…');
    } catch (error) {
      if (stopped.signal.aborted) break;
      if (isForgotten(error, stream)) {
        output.progress('The service no longer knows the place in the stream: some events may be missing.');
        stream.place = undefined;
        continue;
      }
      if (!isInterruption(error)) throw error;
      output.progress(`${(error as Error).message} Connecting again…`);
      if (error instanceof ApiError && error.retryAfter) delay = Math.max(delay, error.retryAfter * 1000);
    }
    await sleep(delay, undefined, { signal: stopped.signal }).catch(() => undefined);
    delay = Math.min(2 * delay, MAX_DELAY);
  }
  if (stream.place !== undefined && count === Infinity)
    output.progress(`Stopped. To continue here: mcs listen --after ${stream.place}`);
}

function targetOf(url: string | undefined): URL | undefined {
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usage(`--forward-to must be an http or https address, not ${url}.`);
  return new URL(url);
}

async function show({ output }: Session, event: StreamedEvent, target: URL | undefined): Promise<void> {
  const { id, name, headers, body } = event;
  const time = new Date().toLocaleTimeString('en-GB');
  const forwarded = target && (await forward(target, event));
  const { status, problem, milliseconds } = forwarded ?? {};
  const result =
    status === undefined
      ? [body.toString()]
      : [styledStatus(status), ...(problem === undefined ? [] : [problem]), `${milliseconds} ms`];
  output.result({ id, event: name, headers, body: body.toString(), ...(forwarded && { forwarded }) }, [
    styled('dim', time),
    styled('bold', name),
    ...result,
    styled('dim', id),
  ]);
}

/** The event was deleted, or belongs to another client. */
function isForgotten(error: unknown, { place }: EventStream): boolean {
  return error instanceof ApiError && error.status === 400 && place !== undefined;
}

function isInterruption(error: unknown): boolean {
  // `TypeError`: `fetch` lost the connection while reading.
  return (
    isTemporary(error) ||
    error instanceof TypeError ||
    (error as Error).name === 'AbortError' ||
    (error as Error).message === 'the connection is silent'
  );
}
