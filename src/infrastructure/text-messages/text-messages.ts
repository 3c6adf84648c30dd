import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../config/index.js';
import { TOO_MANY_REQUESTS, type ApiError } from '../errors/index.js';
import type { AttributedClient } from '../http/index.js';
import { CounterMetric, Metrics } from '../metrics/index.js';
import { AttemptLimitsRepository, type LimitedAttempt } from '../rate-limiting/index.js';
import { DAY, HOUR } from '../time/index.js';
import { TextMessagesConfiguration } from './text-messages.configuration.js';
import { TextMessageSender, UndeliverableTextMessage, type AddressedText } from './text-message-sender.js';

const TEXT_MESSAGES = new CounterMetric({
  name: 'mcs_text_messages_total',
  help: 'Text messages by outcome: `accepted` by the provider, `written` to a file instead of sent, `undeliverable` because the provider never accepts messages to the number, or `failed`.',
  labels: ['outcome'],
});

/** The sender of each environment. */
export class TextMessageSenders {
  constructor(readonly of: Readonly<Record<PlatformEnvironment, TextMessageSender>>) {}
}

/** A text message for a user of a client. */
export interface TextMessage extends AddressedText {
  readonly client: AttributedClient;
}

/** Sends text messages. Before you send a message, count it toward the limits that `limitsOf` returns. */
@Injectable()
export class TextMessages {
  private readonly messages = this.metrics.counter(TEXT_MESSAGES);
  private readonly perNumberAndHour = this.limits.limit({
    name: 'text-messages-per-number-and-hour',
    attempts: this.settings.perNumberAndHour,
    within: HOUR,
  });
  private readonly perNumberAndDay = this.limits.limit({
    name: 'text-messages-per-number-and-day',
    attempts: this.settings.perNumberAndDay,
    within: DAY,
  });
  private readonly perClient = this.limits.limit({
    name: 'text-messages-per-client',
    attempts: this.settings.perClientAndDay,
    within: DAY,
  });
  private readonly perDay = this.limits.limit({
    name: 'text-messages-per-day',
    attempts: this.settings.perDay,
    within: DAY,
  });

  constructor(
    private readonly senders: TextMessageSenders,
    private readonly limits: AttemptLimitsRepository,
    private readonly settings: TextMessagesConfiguration,
    private readonly metrics: Metrics,
  ) {
    const outcomes = Object.values(senders.of).map(({ outcome }) => outcome);
    for (const outcome of [...outcomes, 'undeliverable', 'failed']) this.messages.inc({ outcome }, 0);
  }

  /**
   * Returns the limits that a message counts toward. Messages that are sent and messages that are written to files count
   * separately, so that development cannot use up the messages of production.
   */
  limitsOf({ client: { clientId, environment }, to }: Omit<TextMessage, 'body'>): LimitedAttempt[] {
    const { outcome } = this.senders.of[environment];
    const { perNumberAndHour, perNumberAndDay, perClientAndDay, perDay } = this.settings;
    const number = `${outcome} ${to}`;
    return [
      {
        limit: this.perNumberAndHour,
        subject: number,
        error: tooMany(`A phone number gets at most ${perNumberAndHour} text messages per hour.`),
      },
      {
        limit: this.perNumberAndDay,
        subject: number,
        error: tooMany(`A phone number gets at most ${perNumberAndDay} text messages per day.`),
      },
      {
        limit: this.perClient,
        subject: clientId,
        error: tooMany(`The company can send at most ${perClientAndDay} text messages per day.`),
      },
      {
        limit: this.perDay,
        subject: outcome,
        error: tooMany(`The service sends at most ${perDay} text messages per day.`),
      },
    ];
  }

  /**
   * Resolves when the provider has accepted the message or the file is written. Rejects otherwise.
   *
   * @throws UndeliverableTextMessage
   */
  async send({ client: { environment }, ...text }: TextMessage): Promise<void> {
    const sender = this.senders.of[environment];
    try {
      await sender.deliver(text);
    } catch (error) {
      this.messages.inc({ outcome: error instanceof UndeliverableTextMessage ? 'undeliverable' : 'failed' });
      throw error;
    }
    this.messages.inc({ outcome: sender.outcome });
  }
}

const tooMany =
  (message: string) =>
  (retryAfter: number): ApiError =>
    TOO_MANY_REQUESTS.error(`${message} Retry after the time in retry_after.`, { retryAfter });
