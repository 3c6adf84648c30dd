import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isWellFormedToken, Sealer, sha256 } from '../../infrastructure/crypto/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { ApiClientDirectory, type ClientRecord } from '../api-clients/index.js';
import { MerchantAccountsService } from '../merchant-accounts/index.js';
import { MerchantCatalogService, type CatalogEntry } from '../merchants/index.js';
import { OrganizationsService } from '../organizations/index.js';
import { SessionsService } from '../sessions/index.js';
import { MerchantSignIn, type MerchantCredentials, type SignInOutcome } from './merchant-sign-in.js';
import { SignInAvailability } from './sign-in-availability.js';
import type { SignInLink } from './sign-in-link.entity.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';
import { MAX_ATTEMPTS } from './sign-in-links.service.js';

/** A link as its user sees it. */
export interface OpenedLink {
  readonly link: SignInLink;
  readonly client: ClientRecord;
  readonly merchant: CatalogEntry;
  /** The name of the organization that asks. */
  readonly organization: string;
  /** Whether users can sign in to the merchant now. */
  readonly isAvailable: boolean;
}

/** What became of an attempt: the merchant accepted it, the link has changed, or the user may try again. */
export type AttemptResult =
  | { readonly result: 'succeeded' | 'changed' }
  | { readonly result: 'refused'; readonly attemptsLeft: number };

/** What a user does with a link. Anyone who knows the token counts as the user: it was sent to the user's phone. */
@Injectable()
export class SignInService {
  constructor(
    private readonly repository: SignInLinksRepository,
    private readonly clients: ApiClientDirectory,
    private readonly organizations: OrganizationsService,
    private readonly merchants: MerchantCatalogService,
    private readonly accounts: MerchantAccountsService,
    private readonly sessions: SessionsService,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly availability: SignInAvailability,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns the link with this token, which may have ended. Tokens that the service cannot have issued cost no query. */
  async find(token: string): Promise<SignInLink | null> {
    return isWellFormedToken(token) ? this.repository.withToken(sha256(token)) : null;
  }

  /** Changes nothing, because message apps open links to show a preview. */
  async open(link: SignInLink): Promise<OpenedLink | undefined> {
    const client = await this.clients.find(link.clientId);
    const merchant = (await this.merchants.byIds([link.merchantId])).get(link.merchantId);
    if (!client || !merchant) return undefined;
    const [organization, isAvailable] = await Promise.all([
      this.organizations.nameOf(client.organizationId),
      this.availability.atMerchant(link.environment, merchant.id),
    ]);
    return { link, client, merchant, organization, isAvailable };
  }

  async signIn(opened: OpenedLink, credentials: MerchantCredentials): Promise<AttemptResult> {
    return this.attempt(opened, () => this.merchantSignIn.start(opened.link, credentials));
  }

  async answer(opened: OpenedLink, code: string): Promise<AttemptResult> {
    const { id, challengeSealed } = opened.link;
    if (!challengeSealed) return { result: 'changed' };
    const challenge = this.sealer.open(challengeSealed, ownerOfChallenge(id));
    return this.attempt(opened, () => this.merchantSignIn.answer(opened.link, challenge, code));
  }

  async decline({ link }: OpenedLink): Promise<void> {
    await this.repository.finish(link.id, 'cancelled', this.clock.now());
  }

  /**
   * Counts the attempt before the merchant is asked, so that concurrent attempts cannot exceed the limit. No transaction is
   * open meanwhile, because the merchant may take long.
   */
  private async attempt(opened: OpenedLink, ask: () => Promise<SignInOutcome>): Promise<AttemptResult> {
    const { id } = opened.link;
    const attempt = await this.repository.countAttempt(id, MAX_ATTEMPTS, this.clock.now());
    if (attempt === undefined) return { result: 'changed' };
    const result = await ask();
    if (result.outcome === 'succeeded') {
      await this.complete(opened);
      return { result: 'succeeded' };
    }
    if (result.outcome === 'failed' || attempt >= MAX_ATTEMPTS) {
      await this.repository.finish(id, 'failed', this.clock.now());
      return { result: 'changed' };
    }
    if (result.outcome === 'refused') return { result: 'refused', attemptsLeft: MAX_ATTEMPTS - attempt };
    await this.repository.storeChallenge(id, this.sealer.seal(result.challenge, ownerOfChallenge(id)));
    return { result: 'changed' };
  }

  /** Does nothing if the link was finished meanwhile, for example by the same form sent twice, or has expired. */
  @Transactional()
  protected async complete({ link, client, merchant }: OpenedLink): Promise<void> {
    const { externalUserId } = link;
    const sessionId = randomUUID();
    if (!(await this.repository.complete(link, sessionId, this.clock.now()))) return;
    await this.sessions.createForSignIn(sessionId, client, externalUserId);
    const login = { externalUserId, merchant, sessionId, cardId: null, metadata: undefined };
    await this.accounts.connect(client, login);
  }
}

/** The name of the row that a sealed challenge is bound to; see `Sealer`. */
function ownerOfChallenge(id: string): string[] {
  return ['sign_in_link', id, 'challenge'];
}
