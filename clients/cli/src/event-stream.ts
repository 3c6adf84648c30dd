import { createParser } from 'eventsource-parser';
import type { MerchantConnectivity } from '@merchant-connectivity/sdk';

/** One event of the stream of webhooks. */
export interface StreamedEvent {
  readonly id: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Handlers {
  /** Called when the stream begins, and again after each interruption. */
  onReady(): void;
  /** The next event is read when the promise resolves. */
  onEvent(event: StreamedEvent): Promise<void>;
}

/** Milliseconds. The service sends something every 15 seconds, so a silent connection is dead. */
const SILENCE_LIMIT = 45_000;

/** Reads the stream of webhooks over one connection after another, and remembers its place. */
export class EventStream {
  constructor(
    private readonly client: Pick<MerchantConnectivity, 'streamWebhooks'>,
    /** The last `id` that was processed. */
    public place: string | undefined,
    private readonly signal: AbortSignal,
  ) {}

  /** Resolves when the stream has ended, and rejects when it was interrupted. */
  async read({ onReady, onEvent }: Handlers): Promise<void> {
    const silence = new AbortController();
    const alarm = setTimeout(() => silence.abort(new Error('the connection is silent')), SILENCE_LIMIT);
    const stop = (): void => silence.abort(this.signal.reason);
    this.signal.addEventListener('abort', stop);
    try {
      const response = await this.client.streamWebhooks({
        ...(this.place !== undefined && { headers: { 'Last-Event-ID': this.place } }),
        signal: silence.signal,
        maxRetries: 0,
      });
      const messages: { id: string | undefined; event: string | undefined; data: string }[] = [];
      const parser = createParser({ onEvent: ({ id, event, data }) => messages.push({ id, event, data }) });
      const decoder = new TextDecoder();
      for await (const bytes of response.body ?? []) {
        parser.feed(decoder.decode(bytes, { stream: true }));
        for (const { id, event, data } of messages.splice(0)) {
          // The user may have stopped while an event was processed.
          this.signal.throwIfAborted();
          if (event === 'ready') onReady();
          else await onEvent(eventOf(id ?? '', data));
          // Only now: an event that was not processed is sent again.
          this.place = id;
        }
        alarm.refresh();
      }
    } finally {
      clearTimeout(alarm);
      this.signal.removeEventListener('abort', stop);
    }
  }
}

function eventOf(id: string, data: string): StreamedEvent {
  const { headers, body } = JSON.parse(data) as { headers: Record<string, string>; body: string };
  const bytes = Buffer.from(body, 'base64');
  const { event } = JSON.parse(bytes.toString()) as { event: string };
  return { id, name: event, headers, body: bytes };
}
