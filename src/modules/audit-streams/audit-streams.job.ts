import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob, Transaction } from '../../infrastructure/database/index.js';
import { HttpClient, type OutgoingResult } from '../../infrastructure/http-client/index.js';
import { BackgroundTasks } from '../../infrastructure/http/index.js';
import { Clock, DAY, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { AuditLogsService } from '../audit-logs/index.js';
import { bodyOf, thatFit } from './audit-stream-batch.js';
import { AuditStream } from './audit-stream.entity.js';
import { AuditStreamsRepository, type ClaimedStream } from './audit-streams.repository.js';

/** As for webhooks, success is status 200 and nothing else. */
const OK = 200;
const ENTRIES_PER_BATCH = 500;
const CONCURRENCY = 10;
/** Milliseconds after which another process may send the batch: more than the deadline of a request, and time to settle. */
const LEASE = 40 * SECOND;
/** Milliseconds after the first failure. A pause is as long as all attempts before it took together. */
const FIRST_PAUSE = 2 * SECOND;
const LONGEST_PAUSE = 10 * MINUTE;
/** Milliseconds of failures after which the stream is paused. */
const PAUSED_AFTER = DAY;

/** Sends each entry of streamed audit logs at least once, in the order of the chain. */
@Injectable()
export class AuditStreamsJob extends RecurringJob {
  private readonly logger = new Logger('Audit streams');
  private sending = 0;
  /** Since when attempts of organizations have failed that do not count against the receiver. Milliseconds since the epoch. */
  private readonly failingHere = new Map<string, number>();

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AuditStreamsRepository,
    private readonly auditLogs: AuditLogsService,
    private readonly http: HttpClient,
    private readonly tasks: BackgroundTasks,
    private readonly clock: Clock,
  ) {
    super('Audit streams', 'Audit log entries could not be sent');
  }

  /** Begins attempts, and does not wait for them: a slow receiver must not delay the others. */
  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      const now = this.clock.milliseconds();
      const free = this.stopped.aborted ? 0 : CONCURRENCY - this.sending;
      const lease = new Date(now + LEASE);
      for (const stream of free > 0 ? await this.repository.claim(new Date(now), lease, free) : [])
        this.tasks.begin(() => this.process(stream));
    });
  }

  private async process(stream: ClaimedStream): Promise<void> {
    this.sending += 1;
    // After the lease, a process sends the batch again.
    await this.attempt(stream).catch((error: unknown) =>
      this.logger.error('The outcome of an audit stream could not be stored', error),
    );
    this.sending -= 1;
  }

  private async attempt(stream: ClaimedStream): Promise<void> {
    const { organizationId, position, url } = stream;
    const entries = thatFit(await this.auditLogs.following(organizationId, position, ENTRIES_PER_BATCH));
    const last = entries.at(-1);
    if (!last) return;
    const authorization = this.repository.authorizationOf(stream);
    const result = await this.http.post({
      url,
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      body: bodyOf(stream, entries),
    });
    const confirmed = { position: last.sequence, positionHash: last.hash, dueAt: this.clock.now() };
    const isConfirmed = result.statusCode === OK;
    if (isConfirmed) this.failingHere.delete(organizationId);
    const outcome = isConfirmed
      ? { ...confirmed, failingSince: null, problem: null }
      : this.afterFailure(stream, result);
    // Unless the stream was changed meanwhile, or another process has taken over.
    const claimed = { organizationId, dueAt: stream.lease };
    await this.transaction.manager.update(AuditStream, claimed, outcome);
  }

  private afterFailure(stream: ClaimedStream, result: OutgoingResult): Partial<AuditStream> {
    const now = this.clock.milliseconds();
    const problem = result.explanation ?? `The receiver responded with status ${result.statusCode}.`;
    this.logger.warn('An audit stream failed', { organization_id: stream.organizationId, problem });
    const began = stream.failingSince?.getTime() ?? this.failingHere.get(stream.organizationId) ?? now;
    const pause = Math.min(Math.max(now - began, FIRST_PAUSE), LONGEST_PAUSE);
    const dueAt = new Date(now + Math.max(pause, (result.retryAfterSeconds ?? 0) * SECOND));
    // What this side may have broken does not pause the stream, but is not repeated all the time either.
    if (result.fault === 'ours' || result.fault === 'unknown') {
      this.failingHere.set(stream.organizationId, began);
      return { dueAt, ...(result.fault === 'unknown' && { problem }) };
    }
    const failingSince = stream.failingSince ?? new Date(now);
    const isOver = now - failingSince.getTime() >= PAUSED_AFTER;
    return { dueAt, failingSince, problem, pausedAt: isOver ? new Date(now) : null };
  }
}
