import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  isDashboardUser,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { ApiError } from '../../infrastructure/errors/index.js';
import type { RequestAttribution, RequestOrigin } from '../../infrastructure/http/index.js';
import { IdempotentRequests, type IdempotentRequest } from '../../infrastructure/idempotency/index.js';
import { isPremiumRate } from '../../infrastructure/messages/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { fieldError } from '../../infrastructure/validation/index.js';
import { MerchantCatalogService } from '../merchants/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { SignInLinkSendingService, type LinkRequest, type NewLink } from './sign-in-link-sending.service.js';
import { LINK_LIFETIME } from './sign-in-link.entity.js';
import {
  DEFAULT_LIFETIME_SECONDS,
  type CreatedSignInLinkResponse,
  type CreateSignInLinkRequest,
  type SignInLinkResponse,
} from './sign-in-links.dto.js';
import {
  MERCHANT_UNAVAILABLE,
  PHONE_NUMBER_UNREACHABLE,
  PREMIUM_RATE_NUMBER,
} from './sign-in-links-errors.js';
import { merchantIn, SignInLinksService, type SignInAgent } from './sign-in-links.service.js';
import { SignInLoginsService } from './sign-in-logins.service.js';

/** The properties of a request for a link that are not in its body. */
interface LinkCreation {
  readonly attribution?: RequestAttribution;
  /** The origin of a request of a dashboard user. */
  readonly origin?: RequestOrigin;
  /** The environment in which a user of the dashboard creates the link. */
  readonly environment?: PlatformEnvironment;
  readonly idempotent?: IdempotentRequest | undefined;
}

export interface CreatedSignInLink extends SignInLinkResponse {
  /** The address of the link. In production, only the text message contains that of a link that is sent. */
  readonly url?: string;
}

/**
 * Creates sign-in links for agents, backends of partners and users of the dashboard, and knows what prevents creating them.
 * `SignInLinkSendingService` stores and sends them.
 */
@Injectable()
export class SignInLinkCreationService {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly merchants: MerchantCatalogService,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly logins: SignInLoginsService,
    private readonly links: SignInLinksService,
    private readonly sending: SignInLinkSendingService,
    private readonly idempotentRequests: IdempotentRequests,
  ) {}

  /**
   * Creates a link at the request of an agent, and sends it to the user's phone. Without a phone number, the user has to log in at the
   * partner. The agent then gets the same link again until it has ended.
   *
   * @param options.isRepeated whether the agent may repeat the request to find out that the link is completed
   * @throws ApiError MERCHANT_NOT_FOUND, MERCHANT_UNAVAILABLE, PHONE_NUMBER_UNREACHABLE, TOO_MANY_REQUESTS,
   * INVALID_ACCESS_TOKEN if the MCP token was revoked meanwhile, or SERVICE_UNAVAILABLE if the text message could not be sent
   */
  async create(
    agent: SignInAgent,
    merchantId: number,
    { isRepeated = false }: { readonly isRepeated?: boolean } = {},
  ): Promise<CreatedSignInLink> {
    const problem = await this.problemOf(agent);
    if (problem) throw problem;
    const { phoneNumber, client } = agent;
    const known =
      phoneNumber === undefined ? await this.links.findKnown(agent, merchantId, isRepeated) : null;
    if (known) {
      const merchant = merchantIn(await this.merchants.byIds([merchantId]), known);
      const response = this.links.toResponse(known, merchant);
      return { ...response, ...(response.status === 'pending' && { url: this.sending.urlOf(known) }) };
    }
    const showsUrl = phoneNumber === undefined || client.environment === 'development';
    return this.add(
      { ...agent, merchantId, source: 'agent', lifetime: LINK_LIFETIME },
      ({ link, merchant, url }) => ({
        ...this.links.toResponse(link, merchant),
        ...(showsUrl && { url }),
      }),
    );
  }

  /**
   * Creates a link for the backend of a partner, or for a user of its dashboard. A request with the idempotency key of an earlier one
   * gets its response, and does not count.
   *
   * @throws ApiError INVALID_FIELD, or like `create`
   */
  createFor(
    requester: RequestingOrganization,
    request: CreateSignInLinkRequest,
    creation: LinkCreation,
  ): Promise<CreatedSignInLinkResponse> {
    return this.idempotentRequests.replayOr(creation.idempotent, () =>
      this.createNew(requester, request, creation),
    );
  }

  private async createNew(
    requester: RequestingOrganization,
    request: CreateSignInLinkRequest,
    { attribution = {}, origin, environment, idempotent }: LinkCreation,
  ): Promise<CreatedSignInLinkResponse> {
    const { external_user_id: externalUserId, merchant_id: merchantId, phone_number: phoneNumber } = request;
    const { proof = 'partner_login', return_url: returnUrl, metadata, expires_in: expiresIn } = request;
    attribution.externalUserId = externalUserId;
    if ((proof === 'phone') !== (phoneNumber !== undefined))
      throw fieldError({ field: 'phone_number', rule: () => PHONE_PROOF });
    const client = await this.clients.requested(requester, environment);
    const { organizationId } = requester;
    await this.logins.requirePossible(client, { proof, returnUrl: returnUrl ?? null });
    if (!this.merchantSignIn.isConfigured(client.environment))
      throw MERCHANT_UNAVAILABLE.error(SIGN_IN_NOT_CONFIGURED);
    if (phoneNumber !== undefined && isPremiumRate(phoneNumber))
      throw PHONE_NUMBER_UNREACHABLE.error(PREMIUM_RATE_NUMBER);
    const isUser = isDashboardUser(requester);
    const linkRequest = {
      client,
      organizationId,
      externalUserId,
      merchantId,
      phoneNumber,
      returnUrl,
      metadata,
      source: isUser ? ('dashboard' as const) : ('backend' as const),
      lifetime: (expiresIn ?? DEFAULT_LIFETIME_SECONDS) * SECOND,
      ...(isUser && origin && { actor: { ...requester, origin } }),
      idempotent,
    };
    return this.add(linkRequest, ({ link, merchant, url }) => ({
      ...this.links.toResponse(link, merchant),
      url: proof === 'phone' ? null : url,
    }));
  }

  /** Returns the error that prevents the agent from creating links for any merchant, or undefined. */
  async problemOf({
    client: { clientId, environment },
    phoneNumber,
  }: SignInAgent): Promise<ApiError | undefined> {
    if (!this.merchantSignIn.isConfigured(environment))
      return MERCHANT_UNAVAILABLE.error(SIGN_IN_NOT_CONFIGURED);
    if (phoneNumber === undefined)
      return (await this.logins.hasLoginPage(clientId)) ? undefined : PHONE_NUMBER_UNREACHABLE.error();
    return isPremiumRate(phoneNumber) ? PHONE_NUMBER_UNREACHABLE.error(PREMIUM_RATE) : undefined;
  }

  /** Returns why the agent cannot create links now. Sends no request to the merchant gateway, so it may miss a failure. */
  async presentProblemOf(agent: SignInAgent): Promise<ApiError | undefined> {
    const isUp = this.merchantSignIn.isProbablyAvailable(agent.client.environment, { link: 'UP' });
    return (await this.problemOf(agent)) ?? (isUp ? undefined : MERCHANT_UNAVAILABLE.error());
  }

  /** @throws ApiError MERCHANT_NOT_FOUND, MERCHANT_UNAVAILABLE, or like `SignInLinkSendingService.add()` */
  private async add<Response extends object>(
    request: Omit<LinkRequest, 'merchant'> & { readonly merchantId: number },
    respond: (link: NewLink) => Response,
  ): Promise<Response> {
    const { client, organizationId, merchantId } = request;
    const { environment } = client;
    const merchant = await this.merchants.requireVisible({ organizationId, environment }, merchantId);
    if (!(await this.merchantSignIn.isAvailable(environment, merchantId))) throw MERCHANT_UNAVAILABLE.error();
    return this.sending.add({ ...request, merchant }, respond);
  }
}

/** Agents read this sentence. */
export const SIGN_IN_NOT_CONFIGURED =
  'Sign-in to merchants is not configured in this environment, so no sign-in link works for any merchant.';
const PREMIUM_RATE =
  'The phone number of this connection is a premium-rate number, which gets no text messages. The company can create an MCP token with another phone number.';
const PHONE_PROOF = 'The phone number field is required if the proof is phone, and not allowed otherwise.';
