import { CounterMetric, type Metrics } from '../metrics/index.js';

const TEXT_MESSAGES = new CounterMetric({
  name: 'mcs_text_messages_total',
  help: 'Text messages by outcome: `accepted` by the provider, `written` to a file because no provider is configured, or `failed`.',
  labels: ['outcome'],
});

/** A text message to one phone. */
export interface TextMessage {
  /** E.164. */
  readonly to: string;
  readonly body: string;
}

/** Port for sending text messages. Neither the number nor the text may reach a log, a trace or a metric. */
export abstract class TextMessages {
  private readonly messages = this.metrics.counter(TEXT_MESSAGES);

  constructor(
    private readonly metrics: Metrics,
    private readonly success: 'accepted' | 'written',
  ) {
    for (const outcome of [success, 'failed']) this.messages.inc({ outcome }, 0);
  }

  /** Resolves when the provider has accepted the message or the file is written. Rejects otherwise. */
  async send(message: TextMessage): Promise<void> {
    try {
      await this.deliver(message);
    } catch (error) {
      this.messages.inc({ outcome: 'failed' });
      throw error;
    }
    this.messages.inc({ outcome: this.success });
  }

  protected abstract deliver(message: TextMessage): Promise<void>;
}
