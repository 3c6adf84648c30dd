import { Injectable, Logger } from '@nestjs/common';
import { Mailer, SIGNATURE, type Mail } from '../../../infrastructure/mail/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import type { FailingEndpoint } from './failing-endpoints.repository.js';

/** Emails about failing endpoints to the owners and admins of their organizations. */
@Injectable()
export class FailingEndpointEmails {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mailer: Mailer,
    private readonly users: DashboardUsersService,
  ) {}

  /** @param remaining milliseconds until the endpoint is disabled @returns false if no recipient could be reached */
  sendWarning(endpoint: FailingEndpoint, remaining: number): Promise<boolean> {
    const days = Math.ceil(remaining / DAY);
    return this.send(endpoint, {
      subject: 'A webhook endpoint is failing',
      text: `Your webhook endpoint has not received any event since ${endpoint.failingSince.toISOString()},
because all attempts to deliver one have failed:

${detailsOf(endpoint)}

An endpoint must respond with status 200 within 10 seconds. The request log has the reason for
each failure:

GET /request-logs?environment=${endpoint.environment}&endpoint_id=${endpoint.id}&outcome=failure

If all attempts continue to fail, the endpoint will be disabled in about ${days === 1 ? 'a day' : `${days} days`}. It
then gets no more events until you enable it again.`,
    });
  }

  /** @returns false if no recipient could be reached */
  sendDisabled(endpoint: FailingEndpoint): Promise<boolean> {
    return this.send(endpoint, {
      subject: 'A webhook endpoint was disabled',
      text: `Your webhook endpoint was disabled, because all attempts to deliver an event have failed since
${endpoint.failingSince.toISOString()}. It gets no more events:

${detailsOf(endpoint)}

When your receiver works again:

1. Enable the endpoint:
   PATCH /webhook-endpoints/${endpoint.id} with {"status":"enabled"}
2. Request the events that it missed:
   POST /webhook-endpoints/${endpoint.id}/recover with {"since":"${endpoint.failingSince.toISOString()}"}`,
    });
  }

  private async send({ organizationId }: FailingEndpoint, mail: Omit<Mail, 'to'>): Promise<boolean> {
    const recipients = await this.users.administrators(organizationId);
    let failures = 0;
    for (const { email: to } of recipients) {
      await this.mailer
        .send({ ...mail, to, text: `${mail.text}\n\n${SIGNATURE}\n` })
        .catch((error: unknown) => {
          failures += 1;
          // The error message may contain the recipient's address.
          const { code, name } = error as { code?: string; name?: string };
          this.logger.error(`An email could not be sent (${code ?? name})`);
        });
    }
    return recipients.length === 0 || failures < recipients.length;
  }
}

function detailsOf({ id, url, environment }: FailingEndpoint): string {
  return `URL: ${maskedUrl(url)}\nEnvironment: ${environment}\nID: ${id}`;
}
