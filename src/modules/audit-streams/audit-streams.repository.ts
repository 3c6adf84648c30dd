import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { AuditStream } from './audit-stream.entity.js';

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
        WHERE organization_id IN (
          SELECT stream.organization_id
            FROM audit_stream stream JOIN audit_chain chain USING (organization_id)
           WHERE stream.paused_at IS NULL AND stream.due_at <= $1 AND chain.sequence > stream.position
           ORDER BY stream.due_at LIMIT $3 FOR UPDATE OF stream SKIP LOCKED)
        RETURNING organization_id`,
      [now, lease, limit],
    );
    const where = { organizationId: In(claimed.map(({ organization_id: id }) => id)) };
    const found = await this.transaction.manager.findBy(AuditStream, where);
    return found.map((stream) => ({ ...stream, lease }));
  }

  seal(organizationId: string, authorization: string): Buffer {
    return this.sealer.seal(authorization, ownerOf(organizationId));
  }

  authorizationOf({ organizationId, authorizationSealed }: AuditStream): string | undefined {
    return this.sealer.openOptional(authorizationSealed, ownerOf(organizationId));
  }
}

const ownerOf = (organizationId: string): string[] => ['audit_stream', organizationId];
