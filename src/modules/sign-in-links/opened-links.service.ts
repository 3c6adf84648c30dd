import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { LoadedConfiguration } from '../../infrastructure/config/index.js';
import { isWellFormedSecretWithoutPrefix, Sealer, sha256 } from '../../infrastructure/crypto/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { rateLimitKeyOfAddress } from '../../infrastructure/http/index.js';
import { RateLimiters, type CountedLimit } from '../../infrastructure/rate-limiting/index.js';
import { AgentSettingsService } from '../agent-authorization/index.js';
import type { ClientRecord } from '../api-clients/index.js';
import { MerchantCatalogService, type CatalogEntry } from '../merchants/index.js';
import { OrganizationsService } from '../organizations/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { isReturnUrl } from './return-url.js';
import { SignInLink } from './sign-in-link.entity.js';
import { SignInLinksConfiguration } from './sign-in-links.configuration.js';
import { SIGN_IN_RATE_EXCEEDED } from './sign-in-links-errors.js';

/** A link with the data that its pages need. */
export interface OpenedLink {
  /** Its `returnUrl` is null if the partner has removed the host from its list since the link was created. */
  readonly link: SignInLink;
  readonly client: ClientRecord;
  readonly merchant: CatalogEntry;
  /** The name of the organization that the account is connected to. */
  readonly organization: string;
  readonly isAvailable: boolean;
  /** Defined if the merchant has sent a one-time code. `hint` says where, in the words of the merchant. */
  readonly challenge: { readonly id: string; readonly hint: string } | undefined;
}

/** Finds the links that users open, loads the data of their pages, and limits how often the pages are used. */
@Injectable()
export class OpenedLinksService {
  private readonly formsPerLink = this.limitOf('sign-in-forms', 'formsPerMinute');
  private readonly loginsPerAddress = this.limitOf('sign-in-link-logins', 'loginsPerMinute');
  private readonly unknownLinksPerAddress = this.limitOf('unknown-sign-in-links', 'unknownLinksPerMinute');

  constructor(
    private readonly limiters: RateLimiters,
    private readonly transaction: Transaction,
    private readonly settings: AgentSettingsService,
    private readonly organizations: OrganizationsService,
    private readonly merchants: MerchantCatalogService,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly sealer: Sealer,
  ) {}

  /**
   * Returns the link with this token or, if the user has to log in, with this ID. It may have ended. Malformed texts are rejected
   * without a query.
   */
  async find(tokenOrId: string): Promise<SignInLink | null> {
    const { manager } = this.transaction;
    if (isUUID(tokenOrId)) return manager.findOneBy(SignInLink, { id: tokenOrId, proof: 'partner_login' });
    if (!isWellFormedSecretWithoutPrefix(tokenOrId)) return null;
    return manager.findOneBy(SignInLink, { tokenHash: sha256(tokenOrId), proof: 'phone' });
  }

  /** Returns the link as it is now, unless it was erased meanwhile. */
  reload(id: string): Promise<SignInLink | null> {
    return this.transaction.manager.findOneBy(SignInLink, { id });
  }

  /**
   * Counts a form submission per link. The ID of a link that requires a login is no secret, so that its submissions are counted per
   * IP address, too: strangers must not lock out its user. Submissions for unknown links are counted separately, so that someone who
   * guesses links cannot lock out users who share the address.
   *
   * @throws ApiError SIGN_IN_RATE_EXCEEDED
   */
  async countForm(link: SignInLink | null, ip: string): Promise<void> {
    const address = rateLimitKeyOfAddress(ip);
    if (!link) return this.unknownLinksPerAddress.enforce(address, SIGN_IN_RATE_EXCEEDED);
    const subject = link.proof === 'phone' ? link.id : `${link.id} ${address}`;
    await this.formsPerLink.enforce(subject, SIGN_IN_RATE_EXCEEDED);
  }

  /**
   * Counts a login that begins, because each is stored. The limit is one of the IP address for all links, like that of the pages on
   * which users connect agents: with a limit per link, a few addresses could keep its user from logging in.
   *
   * @throws ApiError SIGN_IN_RATE_EXCEEDED
   */
  async countLogin(ip: string): Promise<void> {
    await this.loginsPerAddress.enforce(rateLimitKeyOfAddress(ip), SIGN_IN_RATE_EXCEEDED);
  }

  /**
   * Loads the data of the link's pages; undefined if the client or merchant is gone. Changes nothing, because messaging apps open
   * links to show a preview.
   */
  async open(link: SignInLink): Promise<OpenedLink | undefined> {
    const client = await this.settings.findClient(link.clientId);
    const merchant = (await this.merchants.byIds([link.merchantId])).get(link.merchantId);
    if (!client || !merchant) return undefined;
    const [organization, isAvailable] = await Promise.all([
      this.organizations.nameOf(client.organizationId),
      this.merchantSignIn.isAvailable(link.environment, merchant.id),
    ]);
    const { environment } = link;
    const hosts = client.settings.returnHosts;
    const mayReturn = link.returnUrl !== null && isReturnUrl(link.returnUrl, { environment, hosts });
    const current = mayReturn ? link : { ...link, returnUrl: null };
    return { link: current, client, merchant, organization, isAvailable, challenge: this.challengeOf(link) };
  }

  private limitOf(name: string, perMinute: keyof SignInLinksConfiguration): CountedLimit {
    const requests = (configuration: LoadedConfiguration) =>
      configuration.get(SignInLinksConfiguration)[perMinute];
    return this.limiters.limit({ name, requests, seconds: 60 });
  }

  private challengeOf({ id, challengeSealed }: SignInLink): OpenedLink['challenge'] {
    if (!challengeSealed) return undefined;
    const [challengeId = '', hint = ''] = this.sealer.open(challengeSealed, ownerOfChallenge(id)).split('\n');
    return { id: challengeId, hint };
  }
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted challenge is bound to. */
export function ownerOfChallenge(id: string): string[] {
  return ['sign_in_link', id, 'challenge'];
}
