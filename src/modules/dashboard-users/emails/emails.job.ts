import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { IsNull } from 'typeorm';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { isDatabaseUnavailable, RecurringJob, Transaction } from '../../../infrastructure/database/index.js';
import { BackgroundTasks } from '../../../infrastructure/http/index.js';
import {
  MailConfiguration,
  Mailer,
  replyIn,
  SMTP_CONNECTIONS,
  UndeliverableMail,
} from '../../../infrastructure/messages/index.js';
import { CounterMetric, GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { Clock, HOUR, SECOND } from '../../../infrastructure/time/index.js';
import { EmailsRepository, type ClaimedEmail } from './emails.repository.js';
import { OutgoingEmail, type EmailOutcome } from './outgoing-email.entity.js';

const EMAILS = new CounterMetric({
  name: 'mcs_emails_total',
  help: 'Emails by outcome: `sent` (accepted by the mail server, or written to a file), `refused` by the mail server for good, `expired` before the mail server accepted them, `cancelled` because the user was disabled, or `failed`, for an attempt that is repeated.',
  labels: ['outcome'],
});
const OLDEST = new GaugeMetric({
  name: 'mcs_emails_oldest_seconds',
  help: 'Age of the oldest email that waits to be sent; 0 if none waits.',
});

/** Milliseconds of an attempt. */
const ATTEMPT_TIMEOUT = 60 * SECOND;
/** Milliseconds for which the outcome of an attempt can be stored. After that, another process makes the next attempt. */
const SETTLING = 30 * SECOND;
/** Milliseconds after the first attempt. Each pause is twice as long as the one before. */
const FIRST_PAUSE = 10 * SECOND;
/**
 * Milliseconds for which a process in production that cannot send emails, but only write them to files, leaves them to others.
 */
const LEFT_TO_OTHERS = HOUR;
/** Part of the time that is left. An email is attempted more often before it expires. */
const PAUSE_OF_REST = 0.1;
/** Spreads out the attempts of emails that failed at the same time. */
const JITTER = 0.2;

/** Sends emails. An attempt that fails is repeated after growing pauses, until the email is of no use anymore. */
@Injectable()
export class EmailsJob extends RecurringJob {
  private readonly logger = new Logger('Mail');
  private readonly emails = this.metrics.counter(EMAILS);
  private readonly sending = new Set<ClaimedEmail>();

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: EmailsRepository,
    private readonly mailer: Mailer,
    private readonly tasks: BackgroundTasks,
    private readonly settings: MailConfiguration,
    private readonly service: ServiceConfiguration,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    super('Mail', 'Emails could not be sent');
    for (const outcome of ['sent', 'refused', 'expired', 'cancelled', 'failed'])
      this.emails.inc({ outcome }, 0);
    const cached = metrics.cached('emails', { load: () => repository.oldest() });
    metrics.value(OLDEST, async () => {
      const oldest = await cached.read();
      const age = oldest ? Math.max(clock.milliseconds() - oldest.getTime(), 0) : 0;
      return oldest === undefined ? undefined : age / SECOND;
    });
  }

  /** Begins attempts, one per connection to the mail server, and does not wait for them: a slow one must not delay the others. */
  @Interval(SECOND / 2)
  run(): Promise<void> {
    return this.start(async () => {
      const now = this.clock.milliseconds();
      const until = new Date(now + ATTEMPT_TIMEOUT + SETTLING);
      const longestPause = this.settings.maxRetrySeconds * SECOND * (1 + JITTER) + ATTEMPT_TIMEOUT + SETTLING;
      const free = this.stopped.aborted ? 0 : SMTP_CONNECTIONS - this.sending.size;
      if (free <= 0) return;
      const writesFiles = this.service.isProduction && this.settings.smtpUrl === undefined;
      const dueAt = new Date(writesFiles ? now - LEFT_TO_OTHERS : now);
      const times = { now: new Date(now), dueAt, until };
      const sending = Array.from(this.sending, ({ organizationId }) => organizationId);
      for (const email of await this.repository.claim(times, free, longestPause, sending))
        this.tasks.begin(
          () => this.process(email),
          // Unless the outcome is stored.
          () =>
            this.transaction.updateRow(
              OutgoingEmail,
              { id: email.id, dueAt: until, outcome: IsNull() },
              { dueAt: this.clock.now() },
            ),
        );
    });
  }

  private async process(email: ClaimedEmail): Promise<void> {
    this.sending.add(email);
    await this.attempt(email).catch((error: unknown) => this.report(error));
    this.sending.delete(email);
    await this.run();
  }

  private async attempt(email: ClaimedEmail): Promise<void> {
    const { id, to, expiresAt, isDisabled } = email;
    const remaining = expiresAt.getTime() - this.clock.milliseconds();
    if (isDisabled || remaining <= 0) return this.finish(email, isDisabled ? 'cancelled' : 'expired');
    try {
      const signal = AbortSignal.timeout(Math.min(remaining, ATTEMPT_TIMEOUT));
      await this.mailer.send({ ...this.repository.contentOf(email), id, to, signal });
    } catch (error) {
      return this.fail(email, error);
    }
    return this.finish(email, 'sent');
  }

  private async fail(email: ClaimedEmail, error: unknown): Promise<void> {
    const { id, kind, attempts, expiresAt } = email;
    // The error message may contain the recipient's address.
    const { code, name } = error as { code?: string; name?: string };
    const isRefused = error instanceof UndeliverableMail;
    const reply = isRefused ? error.reply : replyIn(error);
    this.logger.warn(`An email could not be sent (${reply ?? code ?? name})`, {
      email_id: id,
      kind,
      attempts,
    });
    if (isRefused) return this.finish(email, 'refused', reply);
    this.emails.inc({ outcome: 'failed' });
    const now = this.clock.milliseconds();
    const limit = Math.max((expiresAt.getTime() - now) * PAUSE_OF_REST, FIRST_PAUSE);
    const delay = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), this.settings.maxRetrySeconds * SECOND, limit);
    const dueAt = Math.min(now + delay * (1 + JITTER * Math.random()), expiresAt.getTime());
    return this.settle(id, { dueAt: new Date(dueAt), reply });
  }

  private async finish(email: ClaimedEmail, outcome: EmailOutcome, reply: string | null = null) {
    const { id, kind, attempts } = email;
    // The content is not needed anymore.
    await this.settle(id, { outcome, contentSealed: null, ...(reply !== null && { reply }) });
    this.emails.inc({ outcome });
    if (outcome === 'expired')
      this.logger.error('An email expired before it was sent', { email_id: id, kind, attempts });
  }

  /** Repeats a statement while the database is unavailable: otherwise, the email would be sent twice. */
  private async settle(id: string, changes: Partial<OutgoingEmail>): Promise<void> {
    for (const until = performance.now() + SETTLING; ; await pause(SECOND, undefined, { ref: false })) {
      try {
        await this.transaction.manager.update(OutgoingEmail, { id }, changes);
        return;
      } catch (error) {
        const isOver = performance.now() > until || this.stopped.aborted;
        if (isOver || !isDatabaseUnavailable(error)) throw error;
      }
    }
  }
}
