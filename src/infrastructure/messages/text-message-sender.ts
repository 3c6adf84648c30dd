/** A text message to one phone. */
export interface AddressedText {
  /** E.164. */
  readonly to: string;
  readonly body: string;
}

/** Why no message to a phone number can ever be delivered. */
export type UndeliverableReason = 'stopped' | 'unknownNumber' | 'notMobile' | 'regionDisabled';

/** A message that the provider refuses whenever it is sent. */
export class UndeliverableTextMessage extends Error {
  constructor(
    readonly reason: UndeliverableReason,
    message: string,
  ) {
    super(message);
  }
}

/** Port for sending text messages. Neither the number nor the text may reach a log, a trace or a metric. */
export abstract class TextMessageSender {
  /** The outcome that the metric counts when `deliver` succeeds. */
  abstract readonly outcome: 'accepted' | 'written';

  /**
   * Resolves when the provider has accepted the message or the file is written. Rejects otherwise.
   *
   * @throws UndeliverableTextMessage
   */
  abstract deliver(text: AddressedText): Promise<void>;
}
