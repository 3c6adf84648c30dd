import { Injectable } from '@nestjs/common';
import { IsNull, LessThan, LessThanOrEqual, MoreThan } from 'typeorm';
import { hasCome, Transaction } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { MerchantGatewayService } from '../merchant-gateway/index.js';
import type { EndedConnections } from '../mcp-tokens/index.js';
import { SignInLink, type SignInLinkCanceller } from './sign-in-link.entity.js';

/** The user of a client, whose links no other user or client can see. */
export interface ExternalUser {
  readonly clientId: string;
  readonly externalUserId: string;
}

/** An attempt to sign in. `attempt` is its number: the first attempt of a link is 1. */
export interface CountedAttempt {
  readonly attempt: number;
  readonly signInId: string;
  /** The sign-in that this one replaces, which has to be undone. */
  readonly replacedSignInId: string | null;
}

/** The data that events about the end of a link require. */
export type EndedLink = Pick<
  SignInLink,
  'id' | 'clientId' | 'environment' | 'externalUserId' | 'merchantId' | 'metadata'
>;

/** A sign-in that has to be undone, because its link has ended. */
export type SignInToUndo = Pick<SignInLink, 'clientId' | 'environment'> & { readonly signInId: string };

const LINKS_PER_ERASURE = 1_000;

@HoldsUserData('access')
@Injectable()
export class SignInLinksRepository implements UserDataHolder {
  constructor(
    private readonly transaction: Transaction,
    private readonly gateway: MerchantGatewayService,
  ) {}

  /** Erases links of a user, and has the gateway undo the sign-ins that have not ended. */
  async eraseBatch({ clientId, environment, externalUserId }: ErasedUser): Promise<number> {
    const signIns = await this.transaction.changedRows<
      Pick<SignInLink, 'signInId'> & { readonly askedAt: Date | null }
    >(
      `DELETE FROM sign_in_link WHERE id = ANY (ARRAY(
         SELECT id FROM sign_in_link WHERE client_id = $1 AND external_user_id = $2 ORDER BY id LIMIT $3 FOR UPDATE))
       RETURNING sign_in_id AS "signInId", sign_in_asked_at AS "askedAt"`,
      [clientId, externalUserId, LINKS_PER_ERASURE],
    );
    await this.gateway.undoLater(signIns.map((signIn) => ({ ...signIn, clientId, environment })));
    return signIns.length;
  }

  /**
   * Counts an attempt to sign in. Locks the link, so that concurrent attempts cannot exceed the limit. Requires a transaction.
   *
   * A sign-in whose outcome is not known is repeated with its ID. A code belongs to the sign-in that asked for it. Credentials
   * replace a sign-in that waits for a code.
   *
   * @returns undefined if no attempt is left, the link has ended, or the sign-in of the code was replaced
   */
  async countAttempt(
    { id, signInId }: Pick<SignInLink, 'id' | 'signInId'>,
    { newSignInId, isCode }: { readonly newSignInId: string; readonly isCode: boolean },
    limit: number,
    now: Date,
  ): Promise<CountedAttempt | undefined> {
    const open = { id, status: 'pending' as const, expiresAt: MoreThan(now), attempts: LessThan(limit) };
    const link = await this.transaction.lockRow(SignInLink, open);
    if (!link || (isCode && link.signInId !== signInId)) return undefined;
    const replacedSignInId = !isCode && link.challengeSealed ? link.signInId : null;
    const attempt = link.attempts + 1;
    const usedSignInId = replacedSignInId ? newSignInId : (link.signInId ?? newSignInId);
    await this.transaction.manager.update(
      SignInLink,
      { id },
      {
        attempts: attempt,
        signInId: usedSignInId,
        signInAskedAt: now,
        ...(!isCode && { challengeSealed: null }),
      },
    );
    return { attempt, signInId: usedSignInId, replacedSignInId };
  }

  /** Records that nothing is left of a sign-in at the merchant, so that it is neither repeated nor undone. */
  async clearSignIn(id: string, signInId: string): Promise<void> {
    await this.transaction.manager.update(
      SignInLink,
      { id, signInId },
      { signInId: null, challengeSealed: null },
    );
  }

  /** Forgets the sign-ins of links that have ended, unless the last request about them was sent after `askedBefore`. @returns them */
  async takeSignIns(askedBefore: Date, now: Date, limit: number): Promise<SignInToUndo[]> {
    return this.transaction.changedRows<SignInToUndo>(
      `WITH ended AS MATERIALIZED (
         SELECT id, sign_in_id FROM sign_in_link
          WHERE sign_in_id IS NOT NULL AND ${hasCome('sign_in_asked_at', 0, '$2', '$1')}
            AND (status <> 'pending' OR expires_at <= $2)
          ORDER BY sign_in_asked_at LIMIT $3 FOR UPDATE SKIP LOCKED)
       UPDATE sign_in_link link SET sign_in_id = NULL, challenge_sealed = NULL FROM ended
        WHERE link.id = ended.id
        RETURNING link.client_id AS "clientId", link.environment, ended.sign_in_id AS "signInId"`,
      [askedBefore, now, limit],
    );
  }

  /** Ends a link that is still pending. @returns false if it had already ended */
  async finish(
    id: string,
    end:
      | { readonly status: 'failed' }
      | { readonly status: 'cancelled'; readonly cancelledBy: SignInLinkCanceller },
    now: Date,
  ): Promise<boolean> {
    const pending = { id, status: 'pending' as const, expiresAt: MoreThan(now) };
    return this.transaction.updateRow(SignInLink, pending, {
      ...end,
      finishedAt: now,
      challengeSealed: null,
    });
  }

  async expired(now: Date, limit: number): Promise<string[]> {
    const found = await this.transaction.manager.find(SignInLink, {
      select: { id: true },
      where: { status: 'pending', finishedAt: IsNull(), expiresAt: LessThanOrEqual(now) },
      order: { expiresAt: 'ASC' },
      take: limit,
    });
    return found.map(({ id }) => id);
  }

  /** Records that the events of expired links are published. @param id only of this link @returns the links */
  async finishExpired(now: Date, limit: number, id?: string): Promise<EndedLink[]> {
    return this.transaction.changedRows<EndedLink>(
      `UPDATE sign_in_link SET finished_at = $1
        WHERE id = ANY (ARRAY(
          SELECT id FROM sign_in_link
           WHERE status = 'pending' AND finished_at IS NULL AND expires_at <= $1 AND id = COALESCE($3, id)
           ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING id, client_id AS "clientId", environment, external_user_id AS "externalUserId",
                  merchant_id AS "merchantId", metadata`,
      [now, limit, id],
    );
  }

  /**
   * Completes a link that is still pending, and cancels the user's other pending links for the merchant. Concurrent calls
   * lock the links in the order of their IDs, so that only one of them finds its link still pending.
   *
   * @param signInId becomes the ID of the session
   * @returns false if the link had already ended, or another sign-in has replaced this one
   */
  async complete(link: SignInLink, signInId: string, now: Date): Promise<boolean> {
    const completed = await this.transaction.changedRows<unknown>(
      `WITH pending AS MATERIALIZED (
         SELECT id, sign_in_id FROM sign_in_link
          WHERE client_id = $2 AND external_user_id = $3 AND merchant_id = $4
            AND status = 'pending' AND expires_at > $5
          ORDER BY id FOR UPDATE)
       UPDATE sign_in_link link
          SET status = CASE WHEN link.id = $1 THEN 'completed' ELSE 'cancelled' END,
              cancelled_by = CASE WHEN link.id <> $1 THEN 'other_link' END,
              session_id = CASE WHEN link.id = $1 THEN $6::uuid END,
              sign_in_id = NULLIF(link.sign_in_id, $6::uuid), finished_at = $5, challenge_sealed = NULL
         FROM pending
        WHERE link.id = pending.id AND EXISTS (SELECT FROM pending WHERE id = $1 AND sign_in_id = $6::uuid)
        RETURNING link.id`,
      [link.id, link.clientId, link.externalUserId, link.merchantId, now, signInId],
    );
    return completed.length > 0;
  }

  cancelByMcpToken({ clientId, externalUserId }: ExternalUser, tokenHash: Buffer, now: Date): Promise<void> {
    return this.cancelWhere('mcp_token_hash = $4', [clientId, [externalUserId], now, tokenHash]);
  }

  /** Cancels the pending links that were created with any token of the connections of agents. */
  cancelByConnections(
    { clientId, externalUserIds, connectionIds }: EndedConnections,
    now: Date,
  ): Promise<void> {
    const condition = `EXISTS (SELECT FROM mcp_token token
                                 WHERE token.token_hash = sign_in_link.mcp_token_hash AND token.connection_id = ANY ($4))`;
    return this.cancelWhere(condition, [clientId, externalUserIds, now, connectionIds]);
  }

  /** Locks the links in the same order as `complete`. */
  private async cancelWhere(
    condition: string,
    values: readonly [clientId: string, externalUserIds: readonly string[], now: Date, created: unknown],
  ): Promise<void> {
    await this.transaction.manager.query(
      `WITH pending AS MATERIALIZED (
         SELECT id FROM sign_in_link
          WHERE client_id = $1 AND external_user_id = ANY ($2) AND ${condition}
            AND status = 'pending' AND expires_at > $3
          ORDER BY id FOR UPDATE)
       UPDATE sign_in_link link SET status = 'cancelled', cancelled_by = 'revocation', finished_at = $3, challenge_sealed = NULL
         FROM pending WHERE link.id = pending.id`,
      [...values],
    );
  }
}
