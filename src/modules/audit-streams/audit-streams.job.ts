import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob, Transaction } from '../../infrastructure/database/index.js';
import { HttpClient, type OutgoingResult } from '../../infrastructure/http-client/index.js';
import { BackgroundTasks } from '../../infrastructure/http/index.js';
import { printableText } from '../../infrastructure/logging/index.js';
import { CounterMetric, Metrics, type CounterValue } from '../../infrastructure/metrics/index.js';
import { Clock, DAY, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { firstCharacters } from '../../infrastructure/validation/index.js';
import { AuditLogsService, type AuditLogEntry } from '../audit-logs/index.js';
import { batchOf, halfOf } from './audit-stream-batch.js';
import { rejectionIn } from './audit-stream-response.js';
import { AuditStream, workingSince } from './audit-stream.entity.js';
import { AuditStreamsRepository, type ClaimedStream } from './audit-streams.repository.js';

const REJECTED = new CounterMetric({
  name: 'mcs_audit_stream_rejected_entries_total',
  help: 'Audit log entries that a receiver of OpenTelemetry logs did not store, although its status was a success. They are not sent again.',
});

const ENTRIES_PER_BATCH = 500;
/** After a success, the number of entries that was halved grows by this factor, so that a size limit is seldom met. */
const GROWTH = 1.1;
/** Statuses that refuse what a request contains: that may be one entry, or that there are too many. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);
/** Characters of what a receiver says. */
const MAX_QUOTED = 200;
const CONCURRENCY = 10;
/** Milliseconds after which another process may send the batch: more than the deadline of a request, and time to settle. */
const LEASE = 40 * SECOND;
/** Milliseconds after the first failure. A pause is as long as all attempts before it took together. */
const FIRST_PAUSE = 2 * SECOND;
const LONGEST_PAUSE = 10 * MINUTE;
/** Milliseconds that the service has waited after failures of the receiver, after which the stream is paused. */
const PAUSED_AFTER = DAY;

type Result = Pick<OutgoingResult, 'statusCode' | 'explanation' | 'fault' | 'retryAfterSeconds' | 'text'>;

const NOT_SENT: Result = {
  statusCode: 0,
  explanation: 'The service could not send the request.',
  fault: 'ours',
  retryAfterSeconds: null,
  text: null,
};

/** Sends each entry of streamed audit logs at least once, in the order of the chain. */
@Injectable()
export class AuditStreamsJob extends RecurringJob {
  private readonly logger = new Logger('Audit streams');
  private readonly rejected: CounterValue<never>;
  private sending = 0;

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AuditStreamsRepository,
    private readonly auditLogs: AuditLogsService,
    private readonly http: HttpClient,
    private readonly tasks: BackgroundTasks,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    super('Audit streams', 'Audit log entries could not be sent');
    this.rejected = metrics.counter(REJECTED);
    this.rejected.inc({}, 0);
  }

  /** Begins attempts, and does not wait for them: a slow receiver must not delay the others. */
  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      const now = this.clock.milliseconds();
      const free = this.stopped.aborted ? 0 : CONCURRENCY - this.sending;
      const lease = new Date(now + LEASE);
      for (const stream of free > 0 ? await this.repository.claim(new Date(now), lease, free) : [])
        this.tasks.begin(
          () => this.process(stream),
          () => this.settle(stream, { dueAt: this.clock.now() }),
        );
    });
  }

  private async process(stream: ClaimedStream): Promise<void> {
    this.sending += 1;
    // After the lease, a process sends the batch again.
    await this.attempt(stream).catch((error: unknown) => this.report(error));
    this.sending -= 1;
  }

  private async attempt(stream: ClaimedStream): Promise<void> {
    const { organizationId, position, batchEntries } = stream;
    const limit = batchEntries ?? ENTRIES_PER_BATCH;
    const { entries, body } = batchOf(
      stream,
      await this.auditLogs.following(organizationId, position, limit),
    );
    if (entries.length === 0) return;
    const result = await this.send(stream, body).catch((error: unknown) => {
      this.logger.error('A request of an audit stream could not be sent', error);
      return NOT_SENT;
    });
    const isSuccess = Math.floor(result.statusCode / 100) === 2;
    const outcome = isSuccess
      ? this.afterSuccess(stream, entries, result)
      : REFUSALS.has(result.statusCode) && entries.length > 1
        ? this.afterRefusal(stream, entries, result)
        : this.afterFailure(stream, result, failureOf(result, entries, body));
    await this.settle(stream, outcome);
  }

  /** Ends the lease, unless the stream was changed meanwhile, or another process has taken over. */
  private async settle(
    { organizationId, lease }: ClaimedStream,
    outcome: Partial<AuditStream>,
  ): Promise<void> {
    await this.transaction.updateRow(AuditStream, { organizationId, dueAt: lease }, outcome);
  }

  private async send(stream: ClaimedStream, body: Buffer): Promise<Result> {
    const authorization = this.repository.authorizationOf(stream);
    return this.http.post({
      url: stream.url,
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      body,
      wantsText: () => true,
    });
  }

  private afterSuccess(
    stream: ClaimedStream,
    entries: readonly AuditLogEntry[],
    { text }: Result,
  ): Partial<AuditStream> {
    const { organizationId, format, batchEntries } = stream;
    const last = entries.at(-1) as AuditLogEntry;
    const more = Math.ceil((batchEntries ?? ENTRIES_PER_BATCH) * GROWTH);
    const confirmed = {
      position: last.sequence,
      positionHash: last.hash,
      ...workingSince(this.clock.now()),
      batchEntries: more < ENTRIES_PER_BATCH ? more : null,
    };
    const rejection = format === 'otlp' ? rejectionIn(text?.text) : undefined;
    if (!rejection) return confirmed;
    const count = Math.min(rejection.count, entries.length);
    const range = `entries ${entries[0]?.sequence} to ${last.sequence}`;
    const begin =
      count === 0
        ? `The receiver has a warning about ${range}.`
        : `The receiver did not store ${count} of ${range}.`;
    const sentence = begin + quoted(rejection.message);
    this.rejected.inc({}, count);
    this.logger.warn('The receiver of an audit stream rejected entries', {
      organization_id: organizationId,
      rejected: count,
      problem: sentence,
    });
    const rejectedEntries = String(Number(stream.rejectedEntries) + count);
    return { ...confirmed, rejectedEntries, rejection: sentence };
  }

  /** Sends fewer entries next time, down to the one that the receiver refuses. */
  private afterRefusal(
    { organizationId }: ClaimedStream,
    entries: readonly AuditLogEntry[],
    { statusCode }: Result,
  ): Partial<AuditStream> {
    const batchEntries = halfOf(entries);
    this.logger.log('The receiver of an audit stream refused a request, so fewer entries are sent', {
      organization_id: organizationId,
      status: statusCode,
      entries: batchEntries,
    });
    return { dueAt: this.clock.now(), batchEntries };
  }

  private afterFailure(stream: ClaimedStream, result: Result, failure: Failure): Partial<AuditStream> {
    const now = this.clock.now();
    const { problem } = failure;
    this.logger.warn('An audit stream failed', { organization_id: stream.organizationId, problem });
    const failingSince = stream.failingSince ?? now;
    const failingFor = now.getTime() - failingSince.getTime();
    const usual = Math.min(Math.max(failingFor, FIRST_PAUSE), LONGEST_PAUSE);
    const pause = Math.max(usual, (result.retryAfterSeconds ?? 0) * SECOND);
    const dueAt = new Date(now.getTime() + pause);
    const failing = { dueAt, failingSince, ...failure };
    // A failure that this side may have caused does not pause the stream, but is not repeated all the time either.
    if (result.fault === 'ours' || result.fault === 'unknown')
      return { ...failing, failingHereSince: stream.failingHereSince ?? now };
    // Not the time since the first failure: the service may have been down, or its clock may have been set.
    const failedMs = Number(stream.failedMs);
    const counted = { failingHereSince: null, failedMs: String(failedMs + pause) };
    return { ...failing, ...counted, pausedAt: failedMs >= PAUSED_AFTER ? now : null };
  }
}

type Failure = Pick<AuditStream, 'problem' | 'refusedSequence'>;

/** Returns why an attempt failed. A receiver that refuses one entry says why: nobody else knows. */
function failureOf(
  { statusCode, explanation, text }: Result,
  [entry]: readonly AuditLogEntry[],
  body: Buffer,
): Failure {
  if (explanation !== null) return { problem: explanation, refusedSequence: null };
  const problem = `The receiver responded with status ${statusCode}`;
  if (entry && REFUSALS.has(statusCode))
    return {
      problem: `${problem} to entry ${entry.sequence}, which was sent alone (${body.length} bytes).${quoted(text?.text)}`,
      refusedSequence: entry.sequence,
    };
  const hint = Math.floor(statusCode / 100) === 3 ? ' Redirects are not followed.' : '';
  return { problem: `${problem}.${hint}`, refusedSequence: null };
}

/** Returns what a receiver says, unless that is a page for browsers. */
function quoted(text = ''): string {
  const line = printableText(text.trim().replaceAll(/\s+/g, ' '));
  return line === '' || line.startsWith('<') ? '' : ` It says: “${firstCharacters(line, MAX_QUOTED)}”.`;
}
