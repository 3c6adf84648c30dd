import { Injectable } from '@nestjs/common';
import { In, IsNull, LessThan, Not } from 'typeorm';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { hasCome, Transaction } from '../../infrastructure/database/index.js';
import { HOUR } from '../../infrastructure/time/index.js';
import { AuditStream } from './audit-stream.entity.js';

/** Milliseconds: the longest `Retry-After` that is read. */
const LONGEST_POSTPONEMENT = HOUR;

/** A stream of which this process sends a batch. The lease identifies the attempt. */
export type ClaimedStream = AuditStream & { readonly lease: Date };

@Injectable()
export class AuditStreamsRepository {
  constructor(
    private readonly transaction: Transaction,
    private readonly sealer: Sealer,
  ) {}

  /** Returns streams with entries to send, the longest-waiting first, and lets other processes take over at `lease`. */
  async claim(now: Date, lease: Date, limit: number): Promise<ClaimedStream[]> {
    const claimed = await this.transaction.changedRows<{ organization_id: string }>(
      `UPDATE audit_stream SET due_at = $2
        WHERE organization_id = ANY (ARRAY(
          SELECT stream.organization_id
            FROM audit_stream stream JOIN audit_chain chain USING (organization_id)
           WHERE stream.paused_at IS NULL AND ${hasCome('stream.due_at', LONGEST_POSTPONEMENT, '$1')} AND chain.sequence > stream.position
           ORDER BY stream.due_at LIMIT $3 FOR UPDATE OF stream SKIP LOCKED))
        RETURNING organization_id`,
      [now, lease, limit],
    );
    const where = { organizationId: In(claimed.map(({ organization_id: id }) => id)) };
    const found = await this.transaction.manager.findBy(AuditStream, where);
    return found.map((stream) => ({ ...stream, lease }));
  }

  /** Returns streams whose administrators have to get an email: failing since this time, or paused. */
  async toAnnounce(failingSince: Date): Promise<AuditStream[]> {
    const found = await this.transaction.manager.find(AuditStream, {
      where: [{ failingSince: LessThan(failingSince), notifiedAt: IsNull() }, { pausedAt: Not(IsNull()) }],
    });
    return found.filter(({ pausedAt, notifiedAt }) => !pausedAt || !notifiedAt || notifiedAt < pausedAt);
  }

  /** Returns since when the oldest entry waits that was not sent, of streams that are not paused and confirm nothing. */
  async oldestUnsent(): Promise<Date | null> {
    const [row] = await this.transaction.manager.query<[{ oldest: Date | null }]>(
      `SELECT min(GREATEST(created_at, advanced_at)) AS oldest
         FROM audit_stream stream
         JOIN audit_log entry ON entry.organization_id = stream.organization_id AND entry.sequence = stream.position + 1
        WHERE stream.paused_at IS NULL`,
    );
    return row.oldest;
  }

  seal(organizationId: string, authorization: string): Buffer {
    return this.sealer.seal(authorization, ownerOf(organizationId));
  }

  authorizationOf({ organizationId, authorizationSealed }: AuditStream): string | undefined {
    return this.sealer.openOptional(authorizationSealed, ownerOf(organizationId));
  }
}

const ownerOf = (organizationId: string): string[] => ['audit_stream', organizationId];
