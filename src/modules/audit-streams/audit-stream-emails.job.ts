import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  OverdueWork,
  RecurringJob,
  Transaction,
  Transactional,
} from '../../infrastructure/database/index.js';
import { PublicAddress } from '../../infrastructure/http/index.js';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import type { MailContent } from '../../infrastructure/messages/index.js';
import { GaugeMetric, Metrics } from '../../infrastructure/metrics/index.js';
import { Clock, HOUR, MINUTE, timeInUtc } from '../../infrastructure/time/index.js';
import { AdministratorEmails } from '../dashboard-users/index.js';
import { AuditStream, STREAM_STATES, stateOf } from './audit-stream.entity.js';
import { AuditStreamsRepository } from './audit-streams.repository.js';
import { AuditStreamsService } from './audit-streams.service.js';

const STREAMS = new GaugeMetric({
  name: 'mcs_audit_streams',
  help: 'Audit streams by state: `working`, `failing` at the receiver, `failing_here` for reasons that may be on the side of the service, or `paused`. Covers all processes: take the maximum, not the sum.',
  labels: ['state'],
});

/** Milliseconds of failures after which the administrators get an email. */
const ANNOUNCED_AFTER = HOUR;

/** Notifies the administrators of streams that fail for an hour or are paused, and operators by metrics. */
@Injectable()
export class AuditStreamEmailsJob extends RecurringJob {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AuditStreamsRepository,
    private readonly emails: AdministratorEmails,
    private readonly publicAddress: PublicAddress,
    private readonly clock: Clock,
    streams: AuditStreamsService,
    metrics: Metrics,
    overdue: OverdueWork,
  ) {
    super('Audit streams', 'Emails about audit streams could not be added');
    overdue.add('audit_stream_entries', () => repository.oldestUnsent());
    const cached = metrics.cached('audit streams', { load: () => streams.all(), freshFor: MINUTE });
    metrics.gauge(STREAMS, async () => {
      const all = await cached.read();
      const count = (state: string) => all?.filter((stream) => stateOf(stream) === state).length ?? 0;
      return all ? STREAM_STATES.map((state) => ({ labels: { state }, value: count(state) })) : [];
    });
  }

  @Interval(MINUTE)
  run(): Promise<void> {
    return this.start(async () => {
      const failingSince = new Date(this.clock.milliseconds() - ANNOUNCED_AFTER);
      await this.forEach(await this.repository.toAnnounce(failingSince), ({ organizationId }) =>
        this.announce(organizationId),
      );
    });
  }

  /** The run after the email was sent notes this. The lock keeps two processes from adding it twice. */
  @Transactional()
  private async announce(organizationId: string): Promise<void> {
    const stream = await this.transaction.lockRow(AuditStream, { organizationId });
    const since = stream?.pausedAt ?? stream?.failingSince;
    if (!stream || !since || (stream.notifiedAt && stream.notifiedAt >= since)) return;
    const about = `audit stream ${organizationId} ${stream.pausedAt ? 'paused' : 'failing'} ${since.toISOString()}`;
    if (await this.emails.ensureSent(organizationId, about, this.contentFor(stream, since)))
      await this.transaction.manager.update(
        AuditStream,
        { organizationId },
        { notifiedAt: this.clock.now() },
      );
  }

  private contentFor(stream: AuditStream, since: Date): MailContent {
    const { url, problem, position, pausedAt } = stream;
    return {
      subject: pausedAt ? 'The audit stream was paused' : 'The audit stream is failing',
      body: [
        pausedAt
          ? 'The stream of the audit log of your organization was paused, because its receiver has failed for a day. Nothing is sent until an owner resumes the stream:'
          : 'No entry of the audit log of your organization could be sent to its receiver for an hour:',
        {
          facts: {
            URL: maskedUrl(url),
            [pausedAt ? 'Paused at' : 'Failing since']: timeInUtc(since),
            Reason: problem ?? 'Unknown',
            'Last confirmed entry': position === '0' ? 'None' : position,
          },
        },
        nextStepOf(stream),
        ...this.publicAddress.dashboardLink('/dashboard/audit-stream', 'Open the audit stream'),
      ],
    };
  }
}

function nextStepOf(stream: AuditStream): string {
  if (stream.refusedSequence !== null)
    return `No entry is lost. The receiver refuses entry ${stream.refusedSequence}: correct the receiver, or skip the entry on the page of the stream.`;
  if (stream.pausedAt)
    return 'No entry is lost. When the receiver works again, select "Save and resume" on the page of the stream.';
  return stateOf(stream) === 'failing_here'
    ? 'No entry is lost. The cause may be on the side of this service, which retries and does not pause the stream for it.'
    : 'No entry is lost. The service retries. If the receiver fails for a day, the stream is paused.';
}
