import { Injectable, Logger } from '@nestjs/common';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { PlatformEnvironment } from '../config/index.js';
import { TOO_MANY_REQUESTS, type ApiError } from '../errors/index.js';
import type { AttributedClient } from '../http/index.js';
import { CounterMetric, Metrics } from '../metrics/index.js';
import { AttemptLimitsRepository, type LimitedAttempt } from '../rate-limiting/index.js';
import { DAY, HOUR, SECOND } from '../time/index.js';
import { TextMessagesConfiguration, type TwilioAccount } from './messages.configuration.js';
import type { HttpClient, OutgoingResult } from '../http-client/index.js';
import type { MessageFiles } from './message-files.js';

export interface AddressedText {
  /** E.164. */
  readonly to: string;
  readonly body: string;
  /** Milliseconds after which the text is useless, and must not arrive any more. */
  readonly lifetime: number;
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

/** Seconds: the longest `ValidityPeriod` that every provider accepts, and their default. */
const MAX_VALIDITY = 14_400;

/** Sends text messages through Twilio's Messages API. A message is sent once and never retried, so it cannot arrive twice. */
export class TwilioTextMessageSender extends TextMessageSender {
  readonly outcome = 'accepted';

  constructor(
    private readonly account: TwilioAccount,
    private readonly http: HttpClient,
  ) {
    super();
  }

  override async deliver({ to, body, lifetime }: AddressedText): Promise<void> {
    const { from } = this.account;
    const sender = from.startsWith('MG') ? 'MessagingServiceSid' : 'From';
    const result = await post(this.account, this.http, {
      To: to,
      [sender]: from,
      Body: body,
      // A message that waits at the provider longer, for example because the phone is off, would lead to a link that has expired.
      ValidityPeriod: String(Math.min(Math.floor(lifetime / SECOND), MAX_VALIDITY)),
    });
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
  // A server that is not the provider, such as a proxy, refuses the request without a code.
  return result.statusCode === 400 && codeIn(result) !== undefined ? undefined : problemIn(result);
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

/** Compatible providers write the code as a text. */
function codeIn({ text }: OutgoingResult): string | undefined {
  return /"code"\s*:\s*"?(\d{1,6})\b/.exec(text?.text ?? '')?.[1];
}

const TEXT_MESSAGES = new CounterMetric({
  name: 'mcs_text_messages_total',
  help: 'Text messages by outcome: `accepted` by the provider, `written` to a file instead of sent, `undeliverable` because the provider never accepts messages to the number, or `failed`.',
  labels: ['outcome'],
});

/** Development messages are written to files, unless the operator sends them too. */
export class TextMessageSenders {
  constructor(readonly of: Readonly<Record<PlatformEnvironment, TextMessageSender>>) {}
}

export interface TextMessage extends AddressedText {
  readonly client: AttributedClient;
}

interface MessageLimit {
  /** The name of the limit, after `text-messages-per-`. */
  readonly name: string;
  /** Milliseconds. */
  readonly within: number;
  readonly attempts: (settings: TextMessagesConfiguration) => number;
  readonly subject: (message: Readonly<Record<'clientId' | 'outcome' | 'to', string>>) => string;
  /** Says what the client exceeded. Absent if other clients' messages count too: it must not learn of them. */
  readonly problem?: (attempts: number) => string;
}

/** The error of limits that clients share. */
const UNAVAILABLE = 'The service cannot send the text message now.';

/** Returns the limits of a phone number. One client cannot use up the messages that the users of other clients may get there. */
function limitsOfNumber(
  period: 'hour' | 'day',
  within: number,
  attempts: MessageLimit['attempts'],
): MessageLimit[] {
  return [
    {
      name: `client-number-and-${period}`,
      within,
      attempts: (settings) => Math.ceil(attempts(settings) / 2),
      subject: ({ clientId, outcome, to }) => `${clientId} ${outcome} ${to}`,
      problem: (count) =>
        `The company can send at most ${count} text messages per ${period} to one phone number.`,
    },
    { name: `number-and-${period}`, within, attempts, subject: ({ outcome, to }) => `${outcome} ${to}` },
  ];
}

/**
 * Messages that are sent and messages that are written to files (`outcome`) count separately, so that development cannot use up
 * the messages of production.
 */
const LIMITS: readonly MessageLimit[] = [
  ...limitsOfNumber('hour', HOUR, ({ perNumberAndHour }) => perNumberAndHour),
  ...limitsOfNumber('day', DAY, ({ perNumberAndDay }) => perNumberAndDay),
  {
    name: 'client',
    within: DAY,
    attempts: ({ perClientAndDay }) => perClientAndDay,
    subject: ({ clientId }) => clientId,
    problem: (attempts) => `The company can send at most ${attempts} text messages per day.`,
  },
  { name: 'day', within: DAY, attempts: ({ perDay }) => perDay, subject: ({ outcome }) => outcome },
];

/** Sends text messages. Before you send a message, count it toward the limits that `limitsOf` returns. */
@Injectable()
export class TextMessages {
  private readonly messages = this.metrics.counter(TEXT_MESSAGES);
  private readonly limited = LIMITS.map(({ name, within, attempts: attemptsIn, subject, problem }) => {
    const attempts = attemptsIn(this.settings);
    const limit = this.limits.limit(`text-messages-per-${name}`, { attempts, within });
    const message = `${problem?.(attempts) ?? UNAVAILABLE} Retry after the time in retry_after.`;
    const error = (retryAfter: number): ApiError => TOO_MANY_REQUESTS.error(message, { retryAfter });
    return { limit, subject, error };
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

  limitsOf({ client: { clientId, environment }, to }: Pick<TextMessage, 'client' | 'to'>): LimitedAttempt[] {
    const { outcome } = this.senders.of[environment];
    return this.limited.map(({ subject, ...limited }) => ({
      ...limited,
      subject: subject({ clientId, outcome, to }),
    }));
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

/** Local numbers that charge the caller. The numbering plans of North American cities do not list them by type. */
const PAY_PER_CALL = /^\+1\d{3}976\d{4}$/;

/** Returns whether the owner of the phone number earns from messages to it. @param phoneNumber in E.164 */
export function isPremiumRate(phoneNumber: string): boolean {
  return (
    PAY_PER_CALL.test(phoneNumber) || parsePhoneNumberFromString(phoneNumber)?.getType() === 'PREMIUM_RATE'
  );
}
