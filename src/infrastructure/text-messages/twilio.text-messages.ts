import type { HttpClient, OutgoingResult } from '../http-client/index.js';
import type { Metrics } from '../metrics/index.js';
import { TextMessages, type TextMessage } from './text-messages.js';
import type { TwilioAccount } from './text-messages.configuration.js';

/** Sends text messages through Twilio's Messages API. A message is sent once and never retried, so it cannot arrive twice. */
export class TwilioTextMessages extends TextMessages {
  constructor(
    metrics: Metrics,
    private readonly account: TwilioAccount,
    private readonly http: HttpClient,
  ) {
    super(metrics, 'accepted');
  }

  protected override async deliver({ to, body }: TextMessage): Promise<void> {
    const { from } = this.account;
    const sender = from.startsWith('MG') ? 'MessagingServiceSid' : 'From';
    const result = await post(this.account, this.http, { To: to, [sender]: from, Body: body });
    const isAccepted = result.statusCode >= 200 && result.statusCode < 300;
    if (!isAccepted) throw new Error(problemIn(result));
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
function problemIn({ statusCode, failure, explanation, text }: OutgoingResult): string {
  if (failure !== null) return `${explanation ?? failure}`;
  const [, code] = /"code"\s*:\s*(\d{1,6})\b/.exec(text?.text ?? '') ?? [];
  return `the provider responded with ${statusCode}${code === undefined ? '' : ` (code ${code})`}`;
}
