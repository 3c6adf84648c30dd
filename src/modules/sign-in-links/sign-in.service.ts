import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MoreThan, type FindOptionsWhere, type QueryDeepPartialEntity } from 'typeorm';
import { isWellFormedToken, Sealer, sha256 } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { ErrorKind } from '../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import { RateLimiters } from '../../infrastructure/rate-limiting/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';
import { ApiClientDirectory, type ClientRecord } from '../api-clients/index.js';
import type { MerchantCredentials, SignInOutcome, SignInRequest } from '../merchant-gateway/index.js';
import { MerchantCatalogService, type CatalogEntry } from '../merchants/index.js';
import { OrganizationsService } from '../organizations/index.js';
import { SessionsService } from '../sessions/index.js';
import { WebhookEventsRepository, WebhookPublisher } from '../webhooks/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { SignInLink } from './sign-in-link.entity.js';
import { SignInLinksRepository, type CountedAttempt } from './sign-in-links.repository.js';
import { MAX_ATTEMPTS, SignInLinksService } from './sign-in-links.service.js';

@Configuration('Sign-in links')
class SignInLinksConfiguration {
  @EnvironmentVariable(
    'SIGN_IN_FORMS_PER_MINUTE',
    'Maximum number of forms per minute that can be sent with one sign-in link.',
  )
  @IsIntegerBetween(1, 100_000_000)
  formsPerMinute: number = 60;

  @EnvironmentVariable(
    'UNKNOWN_SIGN_IN_LINKS_PER_MINUTE',
    'Maximum number of forms per minute that one IP address can send with sign-in links that do not exist. Links that exist are not affected.',
  )
  @IsIntegerBetween(1, 100_000_000)
  unknownLinksPerMinute: number = 60;
}

const SIGN_IN_RATE_EXCEEDED = new ErrorKind(429, 'RATE_LIMIT_ERROR', 'RATE_LIMIT_EXCEEDED', {
  when: 'Too many forms were sent with the sign-in link, or with unknown links from the IP address, within a minute.',
  message: 'There were too many attempts. Wait a minute, then try again.',
});

/** A link with the data that its pages need. */
export interface OpenedLink {
  readonly link: SignInLink;
  readonly client: ClientRecord;
  readonly merchant: CatalogEntry;
  /** The name of the organization that the account is connected to. */
  readonly organization: string;
  readonly isAvailable: boolean;
  /** Defined if the merchant has sent a one-time code. `hint` says where, in the words of the merchant. */
  readonly challenge: { readonly id: string; readonly hint: string } | undefined;
}

/**
 * The result of an attempt. `linkChanged`: the user needs another page, because a code is required or the link has ended.
 * `unknown`: the merchant did not respond. `incorrect`: the user can try again.
 */
export type AttemptResult =
  | { readonly result: 'succeeded' | 'linkChanged' | 'unknown' }
  | { readonly result: 'incorrect'; readonly attemptsLeft: number };

/**
 * Handles what users do on the pages of a sign-in link. Anyone who knows the token counts as the user, because it was sent to
 * the user's phone.
 */
@Injectable()
export class SignInService {
  private readonly formsPerLink = this.limiters.limit({
    name: 'sign-in-forms',
    requests: (configuration) => configuration.get(SignInLinksConfiguration).formsPerMinute,
    seconds: 60,
  });
  private readonly unknownLinksPerAddress = this.limiters.limit({
    name: 'unknown-sign-in-links',
    requests: (configuration) => configuration.get(SignInLinksConfiguration).unknownLinksPerMinute,
    seconds: 60,
  });

  constructor(
    private readonly limiters: RateLimiters,
    private readonly transaction: Transaction,
    private readonly repository: SignInLinksRepository,
    private readonly links: SignInLinksService,
    private readonly clients: ApiClientDirectory,
    private readonly organizations: OrganizationsService,
    private readonly merchants: MerchantCatalogService,
    private readonly sessions: SessionsService,
    private readonly publisher: WebhookPublisher,
    private readonly events: WebhookEventsRepository,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns the link with this token, which may have ended. Malformed tokens are rejected without a query. */
  async find(token: string): Promise<SignInLink | null> {
    if (!isWellFormedToken(token)) return null;
    return this.transaction.manager.findOneBy(SignInLink, { tokenHash: sha256(token) });
  }

  /**
   * Counts a form submission. Submissions for unknown links are counted separately, per IP address, so that someone who guesses
   * links cannot lock out users who share the address.
   *
   * @throws ApiError SIGN_IN_RATE_EXCEEDED
   */
  async countForm(link: SignInLink | null, ip: string): Promise<void> {
    const retryAfter = link
      ? await this.formsPerLink.count(link.id)
      : await this.unknownLinksPerAddress.count(rateLimitKeyOfAddress(ip));
    if (retryAfter !== undefined) throw SIGN_IN_RATE_EXCEEDED.error(undefined, { retryAfter });
  }

  /**
   * Loads the data of the link's pages; undefined if the client or merchant is gone. Changes nothing, because messaging apps open
   * links to show a preview.
   */
  async open(link: SignInLink): Promise<OpenedLink | undefined> {
    const client = await this.clients.find(link.clientId);
    const merchant = (await this.merchants.byIds([link.merchantId])).get(link.merchantId);
    if (!client || !merchant) return undefined;
    const [organization, isAvailable] = await Promise.all([
      this.organizations.nameOf(client.organizationId),
      this.merchantSignIn.isAvailable(link.environment, merchant.id),
    ]);
    return { link, client, merchant, organization, isAvailable, challenge: this.challengeOf(link) };
  }

  private challengeOf({ id, challengeSealed }: SignInLink): OpenedLink['challenge'] {
    if (!challengeSealed) return undefined;
    const [challengeId = '', hint = ''] = this.sealer.open(challengeSealed, ownerOfChallenge(id)).split('\n');
    return { id: challengeId, hint };
  }

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
    await this.repository.finish(link.id, 'cancelled', this.clock.now());
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
    const { attempt, signInId } = counted;
    const result = await send({ ...link, signInId });
    switch (result.outcome) {
      case 'unknown':
        // The same sign-in can be repeated.
        await this.changePending({ id, attempts: MoreThan(0) }, { attempts: () => 'attempts - 1' });
        return { result: 'unknown' };
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
      await this.merchantSignIn.undoLater(
        [{ ...link, signInId: counted.replacedSignInId, askedAt: now }],
        now,
      );
    return counted;
  }

  /** Connects the account. @returns false if the link has ended meanwhile, or another sign-in has replaced this one */
  @Transactional()
  protected async complete({ link, client, merchant }: OpenedLink, signInId: string): Promise<boolean> {
    const { externalUserId } = link;
    if (!(await this.repository.complete(link, signInId, this.clock.now()))) return false;
    await this.sessions.createForSignIn(signInId, client, externalUserId);
    await this.publisher.publish(client, {
      event: 'AUTHENTICATED',
      sessionId: signInId,
      taskId: await this.events.nextTaskId(),
      externalUserId,
      merchant,
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

/** Returns the `owner` argument for `Sealer`: the row that the encrypted challenge is bound to. */
function ownerOfChallenge(id: string): string[] {
  return ['sign_in_link', id, 'challenge'];
}
