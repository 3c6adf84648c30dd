import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { expectDocumented } from '../documents/api-document.js';
import { eventually } from '../eventually.js';
import { basic } from '../test-app.js';

const PATH = '/development/webhooks/stream';

/** One message of a stream of webhooks. */
export interface StreamedWebhook {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A connection to the stream of webhooks that keeps what it receives. */
export class WebhookStream {
  readonly received: StreamedWebhook[] = [];
  lastEventId = '';
  /** The text of the stream so far. */
  text = '';
  /** Whether the service has ended the stream. */
  hasEnded = false;
  private readonly aborted = new AbortController();

  private constructor(readonly response: Response) {}

  /** Resolves when the service has announced that the stream begins. */
  static async open(
    baseUrl: string,
    credentials: IssuedCredentials,
    lastEventId?: string,
  ): Promise<WebhookStream> {
    const aborted = new AbortController();
    const response = await fetch(`${baseUrl}${PATH}`, {
      headers: {
        authorization: basic(credentials),
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal: aborted.signal,
    });
    const stream = new WebhookStream(response);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    stream.aborted.signal.addEventListener('abort', () => aborted.abort());
    void stream.read();
    await eventually('the stream is ready', () => stream.text.includes('event: ready'));
    expectDocumented('GET', PATH, 200, response.headers, stream.text);
    return stream;
  }

  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  /** Resolves with the messages when there are as many. */
  async arrived(count: number): Promise<readonly StreamedWebhook[]> {
    await eventually(`${count} events arrive`, () => this.received.length >= count);
    return this.received;
  }

  close(): void {
    this.aborted.abort();
  }

  private async read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const bytes of this.response.body ?? []) {
        const text = decoder.decode(bytes as Uint8Array, { stream: true });
        this.text += text;
        const messages = (rest + text).split('\n\n');
        rest = messages.pop() ?? '';
        for (const message of messages) this.take(message);
      }
    } catch {
      // The connection was closed.
    }
    this.hasEnded = true;
  }

  private take(message: string): void {
    const fields = Object.fromEntries(message.split('\n').map((line) => line.split(/: (.*)/s)));
    if (!fields['data']) return;
    this.lastEventId = fields['id'];
    if (fields['event'] === 'ready') return;
    const { headers, body } = JSON.parse(fields['data']) as { headers: Record<string, string>; body: string };
    this.received.push({ id: fields['id'], headers, body: Buffer.from(body, 'base64') });
  }
}
