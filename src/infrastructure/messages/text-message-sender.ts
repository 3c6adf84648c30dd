import { Logger } from '@nestjs/common';
import type { HttpClient, OutgoingResult } from '../http-client/index.js';
import type { MessageFiles } from './message-files.js';
import type { TwilioAccount } from './messages.configuration.js';

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

/** Writes each text message to a file and logs the path of the file. Used if nothing else sends the message. */
export class FileTextMessageSender extends TextMessageSender {
  readonly outcome = 'written';
  private readonly logger = new Logger('Text messages');

  constructor(private readonly files: MessageFiles) {
    super();
  }

  override async deliver({ to, body }: AddressedText): Promise<void> {
    const file = await this.files.write('messages', `To: ${to}\n\n${body}\n`);
    this.logger.log(`A text message was written to ${file}`);
  }
}

/** The errors of Twilio that every message to the number gets (https://www.twilio.com/docs/api/errors). */
const PERMANENT_ERRORS: ReadonlyMap<string | undefined, UndeliverableReason> = new Map([
  ['21610', 'stopped'],
  ['21211', 'unknownNumber'],
  ['21614', 'notMobile'],
  ['21408', 'regionDisabled'],
]);

/** Sends text messages through Twilio's Messages API. A message is sent once and never retried, so it cannot arrive twice. */
export class TwilioTextMessageSender extends TextMessageSender {
  readonly outcome = 'accepted';

  constructor(
    private readonly account: TwilioAccount,
    private readonly http: HttpClient,
  ) {
    super();
  }

  override async deliver({ to, body }: AddressedText): Promise<void> {
    const { from } = this.account;
    const sender = from.startsWith('MG') ? 'MessagingServiceSid' : 'From';
    const result = await post(this.account, this.http, { To: to, [sender]: from, Body: body });
    const isAccepted = result.statusCode >= 200 && result.statusCode < 300;
    if (isAccepted) return;
    const reason = PERMANENT_ERRORS.get(codeIn(result));
    throw reason === undefined
      ? new Error(problemIn(result))
      : new UndeliverableTextMessage(reason, problemIn(result));
  }
}

/**
 * Sends a message without a recipient, which Twilio rejects, to see whether it accepts the credentials.
 *
 * @returns the problem, if there is one
 */
export async function checkTwilio(account: TwilioAccount, http: HttpClient): Promise<string | undefined> {
  const result = await post(account, http, {});
  return result.statusCode === 400 ? undefined : problemIn(result);
}

function post(
  { accountSid, authToken, apiUrl }: TwilioAccount,
  http: HttpClient,
  fields: Record<string, string>,
): Promise<OutgoingResult> {
  return http.post({
    url: `${apiUrl.replace(/\/+$/, '')}/2010-04-01/Accounts/${accountSid}/Messages.json`,
    headers: {
      authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: Buffer.from(new URLSearchParams(fields).toString()),
    wantsText: (statusCode) => statusCode >= 400,
  });
}

/** Leaves out the message of the provider, which may contain the phone number. */
function problemIn(result: OutgoingResult): string {
  const { statusCode, failure, explanation } = result;
  if (failure !== null) return `${explanation ?? failure}`;
  const code = codeIn(result);
  return `the provider responded with ${statusCode}${code === undefined ? '' : ` (code ${code})`}`;
}

function codeIn({ text }: OutgoingResult): string | undefined {
  return /"code"\s*:\s*(\d{1,6})\b/.exec(text?.text ?? '')?.[1];
}
