import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { RecurringJob, Transactional } from '../../../infrastructure/database/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { Clock, DAY, hourlyAt, timeInUtc } from '../../../infrastructure/time/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import type { MailContent } from '../../../infrastructure/messages/index.js';
import { dashboardPath } from '../../../infrastructure/pages/index.js';
import { AuditLog, changesBetween, SYSTEM } from '../../audit-logs/index.js';
import { EndpointLanes, WebhookEndpointsRepository } from '../../webhook-endpoints/index.js';
import { AdministratorEmails } from '../../dashboard-users/index.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import {
  FailingEndpointsRepository,
  type FailingEndpoint,
  type FailingTimes,
  type DisabledEndpoint,
} from './failing-endpoints.repository.js';

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
    return this.emails.ensureSent(endpoint.organizationId, `failing endpoint ${endpoint.id} ${since}`, {
      subject: 'A webhook endpoint is failing',
      body: [
        `Your webhook endpoint has not received any event since ${timeInUtc(endpoint.failingSince)}, because all ` +
          'attempts to deliver one have failed:',
        detailsOf(endpoint),
        'An endpoint must respond with status 200 within 10 seconds. The request log has the reason for each failure:',
        ...this.publicAddress.dashboardLink(
          `${dashboardPath(endpoint.environment, 'request-logs')}?type=webhook&endpoint_id=${endpoint.id}&outcome=failure&period=7d`,
          'Open the request log',
        ),
        `If all attempts continue to fail, the endpoint will be disabled in about ${days === 1 ? 'a day' : `${days} days`}. ` +
          'It then gets no more events until you enable it again.',
      ],
    });
  }

  /** @returns whether the email was sent */
  sendDisabled(endpoint: DisabledEndpoint): Promise<boolean> {
    const at = endpoint.disabledAt.toISOString();
    return this.emails.ensureSent(endpoint.organizationId, `disabled endpoint ${endpoint.id} ${at}`, {
      subject: 'A webhook endpoint was disabled',
      body: [
        `Your webhook endpoint was disabled, because all attempts to deliver an event have failed since ${timeInUtc(endpoint.failingSince)}. It gets ` +
          'no more events:',
        detailsOf(endpoint),
        'When your receiver works again, on the page of the endpoint:',
        {
          steps: [
            'Enable the endpoint.',
            `Choose "Recover" to send it the events that it has missed since ${timeInUtc(endpoint.failingSince)}.`,
          ],
        },
        ...this.publicAddress.dashboardLink(
          dashboardPath(endpoint.environment, 'webhook-endpoints', endpoint.id),
          'Open the endpoint',
        ),
        `A program can do the same with PATCH /webhook-endpoints/${endpoint.id} and ` +
          `POST /webhook-endpoints/${endpoint.id}/recover.`,
      ],
    });
  }
}

function detailsOf({ id, url, environment }: FailingEndpoint): MailContent['body'][number] {
  return { facts: { URL: maskedUrl(url), Environment: environment, ID: id } };
}

/**
 * Disables endpoints that have failed for days, after a warning on the second day. The warning counts from the first run after it was
 * sent, so no endpoint is disabled without one.
 */
@Injectable()
export class FailingEndpointsJob extends RecurringJob {
  private readonly logger = new Logger('Webhooks');

  constructor(
    private readonly repository: FailingEndpointsRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly lanes: EndpointLanes,
    private readonly emails: FailingEndpointEmails,
    private readonly auditLog: AuditLog,
    private readonly configuration: WebhookDeliveriesConfiguration,
    private readonly clock: Clock,
  ) {
    super('Webhooks', 'Failing endpoints could not be handled');
  }

  @Cron(hourlyAt(10))
  run(): Promise<void> {
    const times = timesOf(this.configuration);
    const steps = [
      async () =>
        times &&
        this.forEach(await this.repository.toWarn(times), (endpoint) =>
          this.notify(endpoint, this.emails.sendWarning(endpoint, times.untilDisabled)),
        ),
      async () =>
        times &&
        this.forEach(await this.repository.toDisable(times), (endpoint) => this.disable(endpoint, times)),
      async () =>
        this.forEach(await this.repository.toAnnounce(), (endpoint) =>
          this.notify(endpoint, this.emails.sendDisabled(endpoint)),
        ),
    ];
    return this.startExclusively('failing-endpoints', () => this.forEach(steps, (step) => step()));
  }

  private async notify({ id }: FailingEndpoint, sending: Promise<boolean>): Promise<void> {
    if (await sending) await this.lanes.noteNotified(id, this.clock.now());
  }

  @Transactional()
  private async disable(endpoint: FailingEndpoint, times: FailingTimes): Promise<void> {
    const { id, url, environment, organizationId } = endpoint;
    const now = this.clock.now();
    if (!(await this.repository.pause(id, times, now))) return;
    await this.endpoints.disable(id, now);
    this.logger.warn('A webhook endpoint was disabled, because all attempts have failed for days', {
      webhook_endpoint_id: id,
    });
    await this.auditLog.record({
      action: 'webhook.update',
      actor: { organizationId, ...SYSTEM },
      target: { name: maskedUrl(url), environment },
      changes: changesBetween({ status: 'enabled' }, { status: 'disabled' }),
    });
  }
}

/** Returns undefined if endpoints are never disabled. */
function timesOf({ disableAfterDays }: WebhookDeliveriesConfiguration): FailingTimes | undefined {
  const total = disableAfterDays * DAY;
  const untilWarning = Math.min(DAY, total / 2);
  return disableAfterDays === 0 ? undefined : { untilWarning, untilDisabled: total - untilWarning };
}
