import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MoreThan, type FindOptionsWhere, type QueryDeepPartialEntity } from 'typeorm';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional, unlessOwnFailure } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import {
  MerchantGatewayService,
  type MerchantCredentials,
  type SignInOutcome,
  type SignInRequest,
} from '../merchant-gateway/index.js';
import { SessionsService } from '../sessions/index.js';
import { WebhookEventsRepository, WebhookPublisher } from '../webhooks/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { ownerOfChallenge, type OpenedLink } from './opened-links.service.js';
import { SignInLink } from './sign-in-link.entity.js';
import { SignInLinksRepository, type CountedAttempt } from './sign-in-links.repository.js';
import { MAX_ATTEMPTS, SignInLinksService } from './sign-in-links.service.js';

/**
 * The result of an attempt. `linkChanged`: the user needs another page, because a code is required or the link has ended.
 * `unknown`: the merchant did not respond. `incorrect`: the user can try again.
 */
export type AttemptResult =
  | { readonly result: 'succeeded' | 'linkChanged' | 'unknown' }
  | { readonly result: 'incorrect'; readonly attemptsLeft: number };

/**
 * Sends the sign-ins of users to the merchant, and applies the outcome to the link. Anyone who knows a token counts as the user,
 * because it was sent to the user's phone. `SignInLoginsService` checks who opens a link without one.
 */
@Injectable()
export class SignInService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: SignInLinksRepository,
    private readonly links: SignInLinksService,
    private readonly sessions: SessionsService,
    private readonly publisher: WebhookPublisher,
    private readonly events: WebhookEventsRepository,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly gateway: MerchantGatewayService,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  async signIn(opened: OpenedLink, credentials: MerchantCredentials): Promise<AttemptResult> {
    return this.attempt(opened, false, (request) => this.merchantSignIn.signIn(request, credentials));
  }

  async submitCode(opened: OpenedLink, code: string): Promise<AttemptResult> {
    const { challenge } = opened;
    if (!challenge) return { result: 'linkChanged' };
    return this.attempt(opened, true, (request) =>
      this.merchantSignIn.submitCode(request, challenge.id, code),
    );
  }

  private async changePending(
    where: FindOptionsWhere<SignInLink>,
    changes: QueryDeepPartialEntity<SignInLink>,
  ): Promise<void> {
    await this.transaction.manager.update(SignInLink, { ...where, status: 'pending' }, changes);
  }

  async decline({ link }: OpenedLink): Promise<void> {
    await this.repository.finish(link.id, { status: 'cancelled', cancelledBy: 'user' }, this.clock.now());
  }

  /**
   * Counts the attempt before it sends the request, so that concurrent attempts cannot exceed the limit. No transaction is
   * open during the request, because the merchant may take a long time to respond.
   */
  private async attempt(
    opened: OpenedLink,
    isCode: boolean,
    send: (request: SignInRequest) => Promise<SignInOutcome>,
  ): Promise<AttemptResult> {
    const { link } = opened;
    const { id } = link;
    const counted = await this.countAttempt(link, isCode);
    if (!counted) return { result: 'linkChanged' };
    // The same sign-in can be repeated.
    const takeBack = () =>
      this.changePending({ id, attempts: MoreThan(0) }, { attempts: () => 'attempts - 1' });
    return unlessOwnFailure(takeBack, async () => {
      const result = await send({ ...link, signInId: counted.signInId });
      if (result.outcome !== 'unknown') return this.settle(opened, isCode, counted, result);
      await takeBack();
      return { result: 'unknown' };
    });
  }

  private async settle(
    opened: OpenedLink,
    isCode: boolean,
    { attempt, signInId }: CountedAttempt,
    result: Exclude<SignInOutcome, { outcome: 'unknown' }>,
  ): Promise<AttemptResult> {
    const { link } = opened;
    const { id } = link;
    switch (result.outcome) {
      case 'succeeded':
        if (!(await this.complete(opened, signInId))) await this.undoUnlessCompleted(opened, signInId);
        return { result: 'succeeded' };
      case 'codeRequired': {
        const challenge = [result.challengeId, result.hint ?? ''].join('\n');
        const challengeSealed = this.sealer.seal(challenge, ownerOfChallenge(id));
        await this.changePending({ id, signInId }, { challengeSealed });
        break;
      }
      case 'denied':
        await this.repository.clearSignIn(id, signInId);
        break;
      case 'incorrect':
        // After a wrong code, the merchant accepts another one for the same sign-in.
        if (!isCode) await this.repository.clearSignIn(id, signInId);
    }
    if (result.outcome === 'denied' || attempt >= MAX_ATTEMPTS) {
      await this.links.fail(link, attempt < MAX_ATTEMPTS ? 'denied' : 'too_many_attempts');
      return { result: 'linkChanged' };
    }
    return result.outcome === 'incorrect'
      ? { result: 'incorrect', attemptsLeft: MAX_ATTEMPTS - attempt }
      : { result: 'linkChanged' };
  }

  /** Counts the attempt. If it replaces a sign-in, records that the replaced sign-in has to be undone. */
  @Transactional()
  protected async countAttempt(link: SignInLink, isCode: boolean): Promise<CountedAttempt | undefined> {
    const now = this.clock.now();
    const attempt = { newSignInId: randomUUID(), isCode };
    const counted = await this.repository.countAttempt(link, attempt, MAX_ATTEMPTS, now);
    if (counted?.replacedSignInId)
      await this.gateway.undoLater([{ ...link, signInId: counted.replacedSignInId, askedAt: now }]);
    return counted;
  }

  /** Connects the account. @returns false if the link has ended meanwhile, or another sign-in has replaced this one */
  @Transactional()
  protected async complete({ link, client, merchant }: OpenedLink, signInId: string): Promise<boolean> {
    const { externalUserId } = link;
    if (!(await this.repository.complete(link, signInId, this.clock.now()))) return false;
    await this.sessions.createForSignIn(signInId, client, link);
    await this.publisher.publish(client, {
      event: 'AUTHENTICATED',
      sessionId: signInId,
      taskId: await this.events.nextTaskId(),
      externalUserId,
      merchant,
      metadata: link.metadata ?? undefined,
      data: { card_id: null },
    });
    return true;
  }

  /**
   * Undoes a sign-in, unless a concurrent form has completed the link with it. If the gateway does not confirm, `EndedLinksJob`
   * has it undone.
   */
  private async undoUnlessCompleted({ link }: OpenedLink, signInId: string): Promise<void> {
    const { id, environment } = link;
    const current = await this.transaction.manager.findOneBy(SignInLink, { id });
    if (current?.sessionId === signInId) return;
    if (await this.merchantSignIn.undo({ environment, signInId }))
      await this.repository.clearSignIn(id, signInId);
  }
}
