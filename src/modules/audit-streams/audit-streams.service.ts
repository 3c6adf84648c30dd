import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD, NOT_FOUND } from '../../infrastructure/errors/index.js';
import { HttpClient, normalUrl } from '../../infrastructure/http-client/index.js';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog, changesBetween } from '../audit-logs/index.js';
import { AuditStream } from './audit-stream.entity.js';
import type { AuditStreamRequest } from './audit-streams.dto.js';
import { AuditStreamsRepository } from './audit-streams.repository.js';

const NOT_PUBLIC =
  'The url field must be a public https URL with a host name: no IP address, no credentials; a port is allowed.';
const NOT_A_HEADER = 'The authorization field must contain only printable ASCII characters.';
/** Before the first entry of a chain. */
const START = { position: '0', positionHash: Buffer.alloc(32) };

/** The stream of the audit log of an organization to a system of its own. */
@Injectable()
export class AuditStreamsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AuditStreamsRepository,
    private readonly http: HttpClient,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async find(organizationId: string): Promise<AuditStream | null> {
    return this.transaction.manager.findOneBy(AuditStream, { organizationId });
  }

  /**
   * Creates the stream, which begins with the first entry, or changes and resumes it. Without a new one, the header stays the
   * same as long as the receiver does.
   *
   * @param check throws if the stream, which is locked, is not as expected
   * @throws ApiError INVALID_FIELD
   */
  @Transactional()
  async configure(
    actor: DashboardActor,
    request: AuditStreamRequest,
    check: (current: AuditStream | null) => void,
  ): Promise<void> {
    const { format, authorization } = request;
    if (this.http.urlProblem(request.url) !== undefined) throw INVALID_FIELD.error(NOT_PUBLIC);
    if (!/^[\x20-\x7e]*$/.test(authorization ?? '')) throw INVALID_FIELD.error(NOT_A_HEADER);
    const { organizationId } = actor;
    const url = normalUrl(request.url);
    const before = await this.transaction.lockRow(AuditStream, { organizationId });
    check(before);
    const isSameReceiver = before && new URL(before.url).origin === new URL(url).origin;
    const stream = {
      ...(before ?? START),
      organizationId,
      url,
      format,
      authorizationSealed: authorization
        ? this.repository.seal(organizationId, authorization)
        : isSameReceiver
          ? before.authorizationSealed
          : null,
      dueAt: this.clock.now(),
      failingSince: null,
      problem: null,
      pausedAt: null,
    };
    await this.transaction.manager.upsert(AuditStream, stream, ['organizationId']);
    const changes = changesBetween(before ? auditedOf(before) : {}, auditedOf({ url, format }));
    const target = { name: new URL(url).host };
    await this.auditLog.record({ action: 'audit_stream.update', actor, target, changes });
  }

  /** @throws ApiError NOT_FOUND */
  @Transactional()
  async remove(actor: DashboardActor): Promise<void> {
    const { organizationId } = actor;
    const stream = NOT_FOUND.unlessFound(await this.transaction.lockRow(AuditStream, { organizationId }));
    await this.transaction.manager.delete(AuditStream, { organizationId });
    const target = { name: new URL(stream.url).host };
    await this.auditLog.record({ action: 'audit_stream.remove', actor, target });
  }
}

function auditedOf({ url, format }: Pick<AuditStream, 'url' | 'format'>) {
  return { url: maskedUrl(url), format };
}
