import { Injectable } from '@nestjs/common';
import { longLists, Transaction } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import type { SessionMetadata } from '../../infrastructure/event-catalog/index.js';
import { Session } from './session.entity.js';

/** Data of a session that its webhooks contain. */
export interface SessionDetails extends Pick<Session, 'externalUserId' | 'cardId'> {
  /** Undefined if none was attached. */
  readonly metadata: SessionMetadata | undefined;
}

/** A session in a list of the sessions of a user. */
export type UserSession = Pick<Session, 'id' | 'type' | 'createdAt' | 'expiresAt'>;

/**
 * The part of the statement that publishes events (`webhooks/queue/sql/publish-events.ts`) that looks up the session that a `request`
 * requires. The metadata is JSON text as `JSON.stringify` writes it, because it becomes a part of the webhook; null if none was attached.
 */
export const REQUIRED_SESSION = `
         SELECT id, (SELECT '{' || string_agg(to_json(key)::text || ':' || value::text, ',') || '}'
                       FROM jsonb_each(metadata)) AS metadata
           FROM session
          WHERE request.requires_session AND session.id = request.session_id
            AND session.client_id = request.client_id AND session.external_user_id = request.external_user_id
          LIMIT 1`;

const SESSIONS_PER_ERASURE = 1_000;
/**
 * The index on client and user does not contain the time of creation, so this limits the work. The list of a user with more
 * sessions may miss some of the newest ones.
 */
const MAX_SEARCHED = 10_000;

/** Stores, finds, extends and erases sessions. */
@HoldsUserData('data')
@Injectable()
export class SessionsRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM session
        WHERE id = ANY (ARRAY(
          SELECT id FROM session WHERE client_id = $1 AND external_user_id = $2 ORDER BY id LIMIT $3 FOR UPDATE))`,
      [clientId, externalUserId, SESSIONS_PER_ERASURE],
    );
  }

  /** Returns the newest of the first `MAX_SEARCHED` sessions of a user that are found. */
  async newestOfUser(clientId: string, externalUserId: string, limit: number): Promise<UserSession[]> {
    return longLists.run(clientId, () =>
      this.transaction.manager.query<UserSession[]>(
        `SELECT id, type, created_at AS "createdAt", expires_at AS "expiresAt"
           FROM (SELECT id, type, created_at, expires_at FROM session WHERE client_id = $1 AND external_user_id = $2 LIMIT $4) found
          ORDER BY created_at DESC, id LIMIT $3`,
        [clientId, externalUserId, limit, MAX_SEARCHED],
      ),
    );
  }

  /** Extends a session that is still valid. Concurrent calls each add their time. @returns the new end */
  async extend(session: Session, milliseconds: number, now: Date): Promise<Date | undefined> {
    const [extended] = await this.transaction.changedRows<{ expiresAt: Date }>(
      `UPDATE session SET expires_at = expires_at + make_interval(secs => $3)
        WHERE id = $1 AND expires_at > $2
        RETURNING expires_at AS "expiresAt"`,
      [session.id, now, milliseconds / SECOND],
    );
    return extended?.expiresAt;
  }
}

export function toDetails({
  externalUserId,
  cardId,
  metadata,
}: Pick<Session, 'externalUserId' | 'cardId' | 'metadata'>): SessionDetails {
  const isEmpty = Object.keys(metadata).length === 0;
  return { externalUserId, cardId, metadata: isEmpty ? undefined : metadata };
}
