import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import type { MailContent } from '../../../infrastructure/messages/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { dashboardPath } from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { AdministratorEmails } from '../../dashboard-users/index.js';
import type { FailingEndpoint } from './failing-endpoints.repository.js';

/** Emails about failing endpoints to the owners and admins of their organizations. */
@Injectable()
export class FailingEndpointEmails {
  constructor(
    private readonly emails: AdministratorEmails,
    private readonly publicAddress: PublicAddress,
  ) {}

  /** @param remaining milliseconds until the endpoint is disabled @returns whether the email was sent */
  sendWarning(endpoint: FailingEndpoint, remaining: number): Promise<boolean> {
    const days = Math.ceil(remaining / DAY);
    const since = endpoint.failingSince.toISOString();
    return this.emails.send(endpoint.organizationId, `failing endpoint ${endpoint.id} ${since}`, {
      subject: 'A webhook endpoint is failing',
      body: [
        `Your webhook endpoint has not received any event since ${since}, because all ` +
          'attempts to deliver one have failed:',
        detailsOf(endpoint),
        'An endpoint must respond with status 200 within 10 seconds. The request log has the reason for each failure:',
        ...this.linkTo(endpoint, 'request-logs', `?type=webhook&endpoint_id=${endpoint.id}&outcome=failure`),
        `If all attempts continue to fail, the endpoint will be disabled in about ${days === 1 ? 'a day' : `${days} days`}. ` +
          'It then gets no more events until you enable it again.',
      ],
    });
  }

  /** @returns whether the email was sent */
  sendDisabled(endpoint: FailingEndpoint): Promise<boolean> {
    const since = endpoint.failingSince.toISOString();
    return this.emails.send(endpoint.organizationId, `disabled endpoint ${endpoint.id} ${since}`, {
      subject: 'A webhook endpoint was disabled',
      body: [
        `Your webhook endpoint was disabled, because all attempts to deliver an event have failed since ${since}. It gets ` +
          'no more events:',
        detailsOf(endpoint),
        'When your receiver works again, on the page of the endpoint:',
        {
          steps: [
            'Enable the endpoint.',
            `Choose "Recover" to send it the events that it has missed since ${since}.`,
          ],
        },
        ...this.linkTo(endpoint, 'webhook-endpoints', `/${endpoint.id}`),
        `A program can do the same with PATCH /webhook-endpoints/${endpoint.id} and ` +
          `POST /webhook-endpoints/${endpoint.id}/recover.`,
      ],
    });
  }

  /** Returns the link to a page of the dashboard; a worker that does not know its address leaves it out. */
  private linkTo({ environment }: FailingEndpoint, page: string, rest: string): MailContent['body'] {
    const address = this.publicAddress.find('dashboard');
    if (address === undefined) return [];
    const link = `${address}${dashboardPath(environment, page)}${rest}`;
    return [{ link, label: page === 'request-logs' ? 'Open the request log' : 'Open the endpoint' }];
  }
}

function detailsOf({ id, url, environment }: FailingEndpoint): MailContent['body'][number] {
  return { facts: { URL: maskedUrl(url), Environment: environment, ID: id } };
}
