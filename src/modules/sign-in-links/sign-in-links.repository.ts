import { Injectable } from '@nestjs/common';
import { LessThan, MoreThan } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { SignInLink } from './sign-in-link.entity.js';

/** The user of a client, whose links no other user or client can see. */
export interface LinkOwner {
  readonly clientId: string;
  readonly externalUserId: string;
}

/** The place of a link in the list of its owner. */
export type LinkPosition = Pick<SignInLink, 'createdAt' | 'id'>;

/** An attempt to sign in, with the number that it has among those of the link. */
export interface CountedAttempt {
  readonly attempt: number;
  readonly signInId: string;
}

/** What events about the end of a link contain. */
export type EndedLink = Pick<SignInLink, 'id' | 'clientId' | 'environment' | 'externalUserId' | 'merchantId'>;

/** A sign-in that nobody waits for anymore. */
export type EndedSignIn = Pick<SignInLink, 'id' | 'environment'> & { readonly signInId: string };

@Injectable()
export class SignInLinksRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(link: SignInLink): Promise<void> {
    await this.transaction.manager.insert(SignInLink, link);
  }

  /** Deletes links of the user. @returns them, with the sign-ins that may be running at the merchants */
  async deleteOfOwner(
    { clientId, externalUserId }: LinkOwner,
    limit: number,
  ): Promise<Pick<SignInLink, 'signInId' | 'signInAskedAt'>[]> {
    const [deleted] = await this.transaction.manager.query<
      [Pick<SignInLink, 'signInId' | 'signInAskedAt'>[], number]
    >(
      `DELETE FROM sign_in_link WHERE id = ANY (ARRAY(
         SELECT id FROM sign_in_link WHERE client_id = $1 AND external_user_id = $2 ORDER BY id LIMIT $3 FOR UPDATE))
        RETURNING sign_in_id AS "signInId", sign_in_asked_at AS "signInAskedAt"`,
      [clientId, externalUserId, limit],
    );
    return deleted;
  }

  async ofOwner({ clientId, externalUserId }: LinkOwner, id: string): Promise<SignInLink | null> {
    return this.transaction.manager.findOneBy(SignInLink, { id, clientId, externalUserId });
  }

  /** Returns the user's links that were created after `since`, newest first, starting after the position `after`. */
  async ofOwnerSince(
    { clientId, externalUserId }: LinkOwner,
    since: Date,
    { after, limit }: { readonly after: LinkPosition | undefined; readonly limit: number },
  ): Promise<SignInLink[]> {
    const query = this.transaction.manager
      .createQueryBuilder(SignInLink, 'link')
      .where({ clientId, externalUserId, createdAt: MoreThan(since) })
      .orderBy({ 'link.createdAt': 'DESC', 'link.id': 'DESC' })
      .limit(limit);
    if (after) query.andWhere('(link.createdAt, link.id) < (:createdAt, :id)', after);
    return query.getMany();
  }

  async withToken(tokenHash: Buffer): Promise<SignInLink | null> {
    return this.transaction.manager.findOneBy(SignInLink, { tokenHash });
  }

  /**
   * Counts an attempt to sign in, in one statement, so that concurrent attempts cannot exceed the limit. A sign-in whose outcome is
   * not known is repeated. Credentials replace a sign-in that waits for a code.
   *
   * @returns undefined if the link is used up, finished or expired
   */
  async countAttempt(
    {
      id,
      newSignInId,
      isCode,
    }: { readonly id: string; readonly newSignInId: string; readonly isCode: boolean },
    limit: number,
    now: Date,
  ): Promise<CountedAttempt | undefined> {
    const { raw } = await this.transaction.manager
      .createQueryBuilder()
      .update(SignInLink)
      .set({
        attempts: () => 'attempts + 1',
        signInId: () =>
          'CASE WHEN :isCode OR challenge_sealed IS NULL THEN COALESCE(sign_in_id, :newSignInId) ELSE :newSignInId END',
        challengeSealed: () => 'CASE WHEN :isCode THEN challenge_sealed END',
        signInAskedAt: now,
      })
      .where({ id, status: 'pending', expiresAt: MoreThan(now), attempts: LessThan(limit) })
      .setParameters({ isCode, newSignInId })
      .returning(['attempts', 'signInId'])
      .execute();
    const [row] = raw as { attempts: number; sign_in_id: string }[];
    return row && { attempt: row.attempts, signInId: row.sign_in_id };
  }

  /** Takes back an attempt that got no response: the merchant has not decided, and the same sign-in can be repeated. */
  async takeBackAttempt(id: string): Promise<void> {
    await this.transaction.manager.update(
      SignInLink,
      { id, status: 'pending', attempts: MoreThan(0) },
      { attempts: () => 'attempts - 1' },
    );
  }

  /** Records that a sign-in is over at the merchant, so that there is nothing to repeat or undo. */
  async endSignIn(id: string, signInId: string): Promise<void> {
    await this.transaction.manager.update(
      SignInLink,
      { id, signInId },
      { signInId: null, challengeSealed: null },
    );
  }

  /**
   * Returns sign-ins of links that have ended, if the merchant has not been asked about them since this time. Records that it is
   * asked now.
   */
  async claimEndedSignIns(askedBefore: Date, now: Date, limit: number): Promise<EndedSignIn[]> {
    const [rows] = await this.transaction.manager.query<[EndedSignIn[], number]>(
      `UPDATE sign_in_link SET sign_in_asked_at = $2
        WHERE id IN (SELECT id FROM sign_in_link
                      WHERE sign_in_id IS NOT NULL AND sign_in_asked_at < $1
                        AND (status <> 'pending' OR expires_at <= $2)
                      ORDER BY sign_in_asked_at LIMIT $3 FOR UPDATE SKIP LOCKED)
        RETURNING id, environment, sign_in_id AS "signInId"`,
      [askedBefore, now, limit],
    );
    return rows;
  }

  async storeChallenge(id: string, signInId: string, challengeSealed: Buffer): Promise<void> {
    await this.transaction.manager.update(
      SignInLink,
      { id, signInId, status: 'pending' },
      { challengeSealed },
    );
  }

  /** Ends a link, if it is still pending. @returns whether it was */
  async finish(id: string, status: 'failed' | 'cancelled', now: Date): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(
      SignInLink,
      { id, status: 'pending', expiresAt: MoreThan(now) },
      { status, finishedAt: now, challengeSealed: null },
    );
    return affected === 1;
  }

  /** Records that the events of expired links are published. @returns the links */
  async finishExpired(now: Date, limit: number): Promise<EndedLink[]> {
    const [links] = await this.transaction.manager.query<[EndedLink[], number]>(
      `UPDATE sign_in_link SET finished_at = $1
        WHERE id IN (SELECT id FROM sign_in_link
                      WHERE status = 'pending' AND finished_at IS NULL AND expires_at <= $1
                      ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING id, client_id AS "clientId", environment, external_user_id AS "externalUserId",
                  merchant_id AS "merchantId"`,
      [now, limit],
    );
    return links;
  }

  /**
   * Completes a link that is still pending, and cancels the user's other pending links for the merchant. Concurrent calls
   * lock the links in the order of their IDs, so that only one of them finds its link still pending.
   *
   * @param signInId becomes the session
   * @returns whether this call completed the link
   */
  async complete(link: SignInLink, signInId: string, now: Date): Promise<boolean> {
    const [completed] = await this.transaction.manager.query<[unknown[], number]>(
      `WITH pending AS MATERIALIZED (
         SELECT id FROM sign_in_link
          WHERE client_id = $2 AND external_user_id = $3 AND merchant_id = $4
            AND status = 'pending' AND expires_at > $5
          ORDER BY id FOR UPDATE)
       UPDATE sign_in_link link
          SET status = CASE WHEN link.id = $1 THEN 'completed' ELSE 'cancelled' END,
              session_id = CASE WHEN link.id = $1 THEN $6::uuid END,
              sign_in_id = NULLIF(sign_in_id, $6::uuid), finished_at = $5, challenge_sealed = NULL
         FROM pending
        WHERE link.id = pending.id AND EXISTS (SELECT FROM pending WHERE id = $1)
        RETURNING link.id`,
      [link.id, link.clientId, link.externalUserId, link.merchantId, now, signInId],
    );
    return completed.length > 0;
  }

  /** Cancels the pending links that were created with an MCP token. Locks them in the same order as `complete`. */
  async cancelOfToken({ clientId, externalUserId }: LinkOwner, tokenHash: Buffer, now: Date): Promise<void> {
    await this.transaction.manager.query(
      `WITH pending AS MATERIALIZED (
         SELECT id FROM sign_in_link
          WHERE client_id = $1 AND external_user_id = $2 AND mcp_token_hash = $3
            AND status = 'pending' AND expires_at > $4
          ORDER BY id FOR UPDATE)
       UPDATE sign_in_link link SET status = 'cancelled', finished_at = $4, challenge_sealed = NULL
         FROM pending WHERE link.id = pending.id`,
      [clientId, externalUserId, tokenHash, now],
    );
  }
}
