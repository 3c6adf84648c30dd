import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transaction, Transactional, type Check } from '../../infrastructure/database/index.js';
import { INVALID_FIELD, NOT_FOUND } from '../../infrastructure/errors/index.js';
import { HttpClient, normalUrl } from '../../infrastructure/http-client/index.js';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import { CounterMetric, Metrics, type CounterValue } from '../../infrastructure/metrics/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { fieldError } from '../../infrastructure/validation/index.js';
import { AuditLog, AuditLogsService, changesBetween, type AuditLogEntry } from '../audit-logs/index.js';
import { AuditStream, restartedAt, workingSince } from './audit-stream.entity.js';
import type { AuditStreamRequest } from './audit-streams.dto.js';
import { AuditStreamsRepository } from './audit-streams.repository.js';

const SKIPPED = new CounterMetric({
  name: 'mcs_audit_stream_skipped_entries_total',
  help: 'Audit log entries that owners have skipped, because the receiver of their stream refused them.',
});

const NOT_REFUSED =
  'The receiver refuses no entry at present. Nothing was skipped. Go back to the page of the stream.';
const notPublic = (field: string): string =>
  `The ${field} field must be a public https URL with a host name: no IP address, no credentials; a port is allowed.`;
const notAHeader = (field: string): string =>
  `The ${field} field must contain only printable ASCII characters.`;
/** Before the first entry of a chain. */
const START = { position: '0', positionHash: Buffer.alloc(32) };

/** The stream of the audit log of an organization to a system of its own. */
@Injectable()
export class AuditStreamsService {
  private readonly skipped: CounterValue<never>;

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AuditStreamsRepository,
    private readonly http: HttpClient,
    private readonly auditLog: AuditLog,
    private readonly auditLogs: AuditLogsService,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.skipped = metrics.counter(SKIPPED);
    this.skipped.inc({}, 0);
  }

  async find(organizationId: string): Promise<AuditStream | null> {
    return this.transaction.manager.findOneBy(AuditStream, { organizationId });
  }

  /** Returns the streams of all organizations, for operators: first those that have failed for the longest time. */
  async all(): Promise<AuditStream[]> {
    return this.transaction.manager.find(AuditStream, {
      order: { failingSince: { direction: 'ASC', nulls: 'LAST' } },
    });
  }

  /**
   * Creates the stream, which begins with the first entry, or changes and resumes it. Without a new one, the header stays the same if
   * the origin of the URL does: another path or query on the same origin, which has received the header before, gets it too.
   *
   * @param check throws if the stream, which is locked, is not as expected
   * @throws ApiError INVALID_FIELD
   */
  @Transactional()
  async configure(
    actor: DashboardActor,
    request: AuditStreamRequest,
    check: Check<AuditStream | null>,
  ): Promise<void> {
    const { format, authorization } = request;
    if (this.http.urlProblem(request.url) !== undefined) throw fieldError({ field: 'url', rule: notPublic });
    if (!/^[\x20-\x7e]*$/.test(authorization ?? ''))
      throw fieldError({ field: 'authorization', rule: notAHeader });
    const { organizationId } = actor;
    const url = normalUrl(request.url);
    const before = await this.transaction.lockRow(AuditStream, { organizationId });
    check(before);
    const isSameOrigin = before && new URL(before.url).origin === new URL(url).origin;
    const stream = {
      ...(before ?? START),
      organizationId,
      url,
      format,
      authorizationSealed: authorization
        ? this.repository.seal(organizationId, authorization)
        : isSameOrigin
          ? before.authorizationSealed
          : null,
      ...restartedAt(this.clock.now()),
    };
    await this.transaction.manager.upsert(AuditStream, stream, ['organizationId']);
    const changes = changesBetween(before ? auditedOf(before) : {}, auditedOf({ url, format }));
    // A new header, a new secret in the URL and the end of a pause are changes that the entry does not describe.
    const isSame = before?.pausedAt === null && before.url === url && authorization === undefined;
    if (isSame && changes.length === 0) return;
    const target = { name: new URL(url).host };
    await this.auditLog.record({ action: 'audit_stream.update', actor, target, changes });
  }

  /** Returns the entry at which the stream stands still, because the receiver refuses it; undefined if there is none. */
  async refusedEntry({
    organizationId,
    position,
    refusedSequence,
  }: AuditStream): Promise<AuditLogEntry | undefined> {
    if (refusedSequence === null) return undefined;
    const [next] = await this.auditLogs.following(organizationId, position, 1);
    return next?.sequence === refusedSequence ? next : undefined;
  }

  /**
   * Has the stream continue after the entry that the receiver refuses, also if it is paused. The hash of the skipped entry comes with
   * the next one, so that the receiver can see the gap, which the audit log explains.
   *
   * @param check like `configure`
   * @throws ApiError NOT_FOUND, and INVALID_FIELD if no entry is refused
   */
  @Transactional()
  async skip(actor: DashboardActor, check: Check<AuditStream>): Promise<void> {
    const { organizationId } = actor;
    const stream = await this.locked(organizationId, check);
    const entry = await this.refusedEntry(stream);
    if (!entry) throw INVALID_FIELD.error(NOT_REFUSED);
    const skippedEntries = String(Number(stream.skippedEntries) + 1);
    const place = { position: entry.sequence, positionHash: entry.hash, skippedEntries };
    await this.transaction.manager.update(
      AuditStream,
      { organizationId },
      { ...place, ...workingSince(this.clock.now()) },
    );
    const target = { name: new URL(stream.url).host };
    const changes = changesBetween({}, { entry: entry.sequence, action: entry.event.action });
    await this.auditLog.record({ action: 'audit_stream.skip', actor, target, changes });
    this.transaction.afterCommit(() => this.skipped.inc({}));
  }

  /** @param check like `configure` @throws ApiError NOT_FOUND */
  @Transactional()
  async remove(actor: DashboardActor, check: Check<AuditStream>): Promise<void> {
    const { organizationId } = actor;
    const stream = await this.locked(organizationId, check);
    await this.transaction.manager.delete(AuditStream, { organizationId });
    const target = { name: new URL(stream.url).host };
    await this.auditLog.record({ action: 'audit_stream.remove', actor, target });
  }

  private async locked(organizationId: string, check: Check<AuditStream>): Promise<AuditStream> {
    return NOT_FOUND.requireFound(await this.transaction.lockRow(AuditStream, { organizationId }, check));
  }
}

function auditedOf({ url, format }: Pick<AuditStream, 'url' | 'format'>) {
  return { url: maskedUrl(url), format };
}
