import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { In, MoreThan } from 'typeorm';
import {
  AccessibleClients,
  isDashboardUser,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { CursorCodec, generateSecret, sha256, type CursorScope } from '../../infrastructure/crypto/index.js';
import {
  ErrorKind,
  INVALID_ACCESS_TOKEN,
  SERVICE_UNAVAILABLE,
  TOO_MANY_REQUESTS,
  type ApiError,
} from '../../infrastructure/errors/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import {
  PublicAddress,
  type AttributedClient,
  type RequestAttribution,
  type RequestOrigin,
} from '../../infrastructure/http/index.js';
import { cutToPage, type RequestedPage } from '../../infrastructure/paging/index.js';
import { AttemptLimitsRepository } from '../../infrastructure/rate-limiting/index.js';
import {
  isPremiumRate,
  TextMessages,
  UndeliverableTextMessage,
  type TextMessage,
  type UndeliverableReason,
} from '../../infrastructure/messages/index.js';
import { Clock, DAY, HOUR, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { SIGN_IN_FAILURE } from '../../infrastructure/event-catalog/index.js';
import { API_CLIENT, AuditLog } from '../audit-logs/index.js';
import {
  McpTokensRepository,
  type McpTokenRevocationListener,
  type EndedConnection,
  type RevokedMcpToken,
} from '../mcp-tokens/index.js';
import { MerchantCatalogService, type CatalogEntry } from '../merchants/index.js';
import { OrganizationsService } from '../organizations/index.js';
import { WebhookPublisher } from '../webhooks/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { LINK_LIFETIME, SignInLink, type SignInLinkStatus } from './sign-in-link.entity.js';
import {
  SIGN_IN_LINK_NOT_FOUND,
  type ListSignInLinksQuery,
  type SignInLinkListResponse,
  type SignInLinkResponse,
} from './sign-in-links.dto.js';
import { SignInLinksRepository, type EndedLink, type ExternalUser } from './sign-in-links.repository.js';

const PHONE_NUMBER_UNREACHABLE = new ErrorKind(403, 'INVALID_REQUEST', 'NO_ACCESS', {
  label: 'PhoneNumberUnreachable',
  when: 'The MCP token has no phone number, or its phone number cannot receive text messages.',
  message:
    'This connection has no phone number of the user, so sign-in links cannot be sent. The company can create an MCP token with phone_number.',
});

const MERCHANT_UNAVAILABLE = new ErrorKind(409, 'MERCHANT_ERROR', 'MERCHANT_UNAVAILABLE', {
  when: 'Users cannot sign in to the merchant with a link now: the status of the merchant is DOWN, the merchant gateway does not respond, or sign-in is not configured in this environment.',
  message: 'Users cannot sign in to this merchant with a link at the moment.',
});

/** Maximum number of times that one link sends credentials or codes to the merchant. */
export const MAX_ATTEMPTS = 5;
const LINKS_PER_HOUR = 5;
/** Milliseconds after their creation for which links are in lists. */
const LISTED_FOR = 7 * DAY;
/** Seconds. The `retry_after` value when a text message could not be sent. */
const RETRY_AFTER_SECONDS = 60;
const ENDED_LINKS_PER_PAGE = 500;
/** Milliseconds after a request to the gateway. By then, no process waits for its response. */
const UNDO_AFTER = 45 * SECOND;

/** An agent, identified by the user for whom it acts. */
export interface SignInAgent {
  readonly client: AttributedClient;
  readonly organizationId: string;
  readonly externalUserId: string;
  /** SHA-256 of the MCP token of the agent, whose revocation cancels the links. */
  readonly tokenHash?: Buffer | undefined;
  /** E.164. Links are sent there. */
  readonly phoneNumber?: string | undefined;
}

/** Why a link failed: see `SIGN_IN_FAILURE`. */
export type SignInFailure = (typeof SIGN_IN_FAILURE.values)[number];

export interface CreatedSignInLink extends SignInLinkResponse {
  /** The address of the link in development. In production, only the text message contains it. */
  readonly url?: string;
}

/** Creates the sign-in links that agents request. Each link is sent to the phone of the user, so that only the user can open it. */
@Injectable()
export class SignInLinksService implements McpTokenRevocationListener {
  private readonly logger = new Logger('Sign-in links');
  private readonly linksPerUser = this.limits.limit('sign-in-links', {
    attempts: LINKS_PER_HOUR,
    within: HOUR,
  });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly transaction: Transaction,
    private readonly repository: SignInLinksRepository,
    private readonly merchants: MerchantCatalogService,
    private readonly organizations: OrganizationsService,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly mcpTokens: McpTokensRepository,
    private readonly textMessages: TextMessages,
    private readonly publisher: WebhookPublisher,
    private readonly auditLog: AuditLog,
    private readonly clients: AccessibleClients,
    private readonly address: PublicAddress,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends a new link to the user's phone.
   *
   * @throws ApiError MERCHANT_NOT_FOUND, MERCHANT_UNAVAILABLE, PHONE_NUMBER_UNREACHABLE, TOO_MANY_REQUESTS,
   * INVALID_ACCESS_TOKEN if the MCP token was revoked meanwhile, or SERVICE_UNAVAILABLE if the text message could not be sent
   */
  async create(agent: SignInAgent, merchantId: number): Promise<CreatedSignInLink> {
    const { client, organizationId, externalUserId, tokenHash } = agent;
    const { clientId, environment } = client;
    const problem = this.problemOf(agent);
    if (problem) throw problem;
    const phoneNumber = agent.phoneNumber as string;
    const merchant = await this.merchants.requireVisible({ organizationId, environment }, merchantId);
    if (!(await this.merchantSignIn.isAvailable(environment, merchantId))) throw MERCHANT_UNAVAILABLE.error();
    const tooManyLinks = (retryAfter: number): ApiError =>
      TOO_MANY_REQUESTS.error(TOO_MANY_LINKS, { retryAfter });
    await this.limits.countAll([
      { limit: this.linksPerUser, subject: subjectOf(agent), error: tooManyLinks },
      ...this.textMessages.limitsOf({ client, to: phoneNumber }),
    ]);
    const token = generateSecret('');
    const url = `${this.address.of('connector')}/sign-in/${token}`;
    const organization = await this.organizations.nameOf(organizationId);
    const createdAt = this.clock.now();
    const link: SignInLink = {
      id: randomUUID(),
      tokenHash: sha256(token),
      clientId,
      environment,
      externalUserId,
      mcpTokenHash: tokenHash ?? null,
      merchantId,
      status: 'pending',
      signInId: null,
      signInAskedAt: null,
      attempts: 0,
      challengeSealed: null,
      sessionId: null,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + LINK_LIFETIME),
      finishedAt: null,
    };
    await this.store(link);
    await this.send(link, agent, { client, to: phoneNumber, body: textOf(organization, merchant.name, url) });
    return { ...this.toResponse(link, merchant), ...(environment === 'development' && { url }) };
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT, or like `AccessibleClients.requested()` */
  async list(
    requester: RequestingOrganization,
    { environment, external_user_id: externalUserId, ...page }: ListSignInLinksQuery,
    attribution: RequestAttribution = {},
  ): Promise<SignInLinkListResponse> {
    attribution.externalUserId = externalUserId;
    const client = await this.clients.requested(requester, environment);
    return this.page({ client, externalUserId }, page);
  }

  /** Returns the error that prevents the agent from creating links for any merchant, or undefined. */
  problemOf({ client: { environment }, phoneNumber }: SignInAgent): ApiError | undefined {
    if (!this.merchantSignIn.isConfigured(environment))
      return MERCHANT_UNAVAILABLE.error(SIGN_IN_NOT_CONFIGURED);
    if (phoneNumber === undefined) return PHONE_NUMBER_UNREACHABLE.error();
    return isPremiumRate(phoneNumber) ? PHONE_NUMBER_UNREACHABLE.error(PREMIUM_RATE) : undefined;
  }

  /** Returns why the agent cannot create links now. Sends no request to the merchant gateway, so it may miss a failure. */
  presentProblemOf(agent: SignInAgent): ApiError | undefined {
    const isUp = this.merchantSignIn.isProbablyAvailable(agent.client.environment, { link: 'UP' });
    return this.problemOf(agent) ?? (isUp ? undefined : MERCHANT_UNAVAILABLE.error());
  }

  /** @throws ApiError NOT_FOUND if the user has no such link */
  async find(
    agent: Pick<SignInAgent, 'client' | 'externalUserId'>,
    linkId: string,
  ): Promise<SignInLinkResponse> {
    const where = { ...userOf(agent), id: linkId };
    const link = isUUID(linkId) ? await this.transaction.manager.findOneBy(SignInLink, where) : null;
    if (!link) throw SIGN_IN_LINK_NOT_FOUND.error();
    return this.toResponse(link, merchantIn(await this.merchants.byIds([link.merchantId]), link));
  }

  /**
   * Returns a page of the user's links of the last week, the newest first.
   *
   * @throws ApiError INVALID_CURSOR_FORMAT
   */
  async page(
    agent: Pick<SignInAgent, 'client' | 'externalUserId'>,
    { cursor, limit }: RequestedPage,
  ): Promise<SignInLinkListResponse> {
    const user = userOf(agent);
    const scope: CursorScope = ['sign_in_links', user.clientId, user.externalUserId];
    const since = new Date(this.clock.milliseconds() - LISTED_FOR);
    const query = this.transaction.manager
      .createQueryBuilder(SignInLink, 'link')
      .where({ ...user, createdAt: MoreThan(since) })
      .orderBy({ 'link.createdAt': 'DESC', 'link.id': 'DESC' })
      .limit(limit + 1);
    if (cursor !== undefined) {
      const [createdAt, id] = this.cursors.decode(cursor, scope);
      query.andWhere('(link.createdAt, link.id) < (:createdAt, :id)', { createdAt, id });
    }
    const { entries: links, last } = cutToPage(await query.getMany(), limit);
    const merchants = await this.merchants.byIds(links.map(({ merchantId }) => merchantId));
    return {
      data: links.map((link) => this.toResponse(link, merchantIn(merchants, link))),
      next_cursor: last ? this.cursors.encode([last.createdAt.toISOString(), last.id], scope) : null,
    };
  }

  /**
   * Cancels a pending link. Idempotent: links that are finished or expired stay as they are.
   *
   * @throws ApiError NOT_FOUND if the user has no such link
   */
  async cancel(agent: SignInAgent, linkId: string): Promise<SignInLinkResponse> {
    const { id } = await this.find(agent, linkId);
    await this.repository.finish(id, 'cancelled', this.clock.now());
    return this.find(agent, id);
  }

  /**
   * Cancels a pending link for its API client, or for a user of the organization. Idempotent, like `cancel`.
   *
   * @param environment that of the link; absent if it can be any
   * @throws ApiError NOT_FOUND
   */
  @Transactional()
  async cancelFor(
    requester: RequestingOrganization,
    linkId: string,
    origin: RequestOrigin,
    environment?: PlatformEnvironment,
  ): Promise<SignInLinkResponse> {
    const isUser = isDashboardUser(requester);
    const accessible = isUser ? await this.clients.all(requester) : [requester];
    const clients = accessible.filter((each) => (environment ?? each.environment) === each.environment);
    const where = { id: linkId, clientId: In(clients.map(({ clientId }) => clientId)) };
    const link = isUUID(linkId) ? await this.transaction.manager.findOneBy(SignInLink, where) : null;
    if (!link) throw SIGN_IN_LINK_NOT_FOUND.error();
    const { clientId, externalUserId } = link;
    const user = { client: { clientId, environment: link.environment }, externalUserId };
    if (await this.repository.finish(link.id, 'cancelled', this.clock.now())) {
      const { name, email } = isUser ? requester : API_CLIENT;
      const { organizationId } = requester;
      const merchants = await this.merchants.byIds([link.merchantId]);
      await this.auditLog.record({
        action: 'sign_in_link.cancel',
        actor: { name, email, organizationId, origin },
        target: { name: merchantIn(merchants, link).name, environment: link.environment },
      });
    }
    return this.find(user, link.id);
  }

  /** Cancels the pending links that an agent created with a token, when the token is revoked. */
  async onRevoked({ tokenHash, ...user }: RevokedMcpToken): Promise<void> {
    await this.repository.cancelByMcpToken(user, tokenHash, this.clock.now());
  }

  /** Cancels the pending links that an agent created, when its connection ends. */
  async onConnectionEnded({ connectionId, ...user }: EndedConnection): Promise<void> {
    await this.repository.cancelByConnection(user, connectionId, this.clock.now());
  }

  /** Fails a link that is still pending, and publishes the event in the same transaction. */
  @Transactional()
  async fail(link: EndedLink, reason: SignInFailure): Promise<void> {
    if (!(await this.repository.finish(link.id, 'failed', this.clock.now()))) return;
    const { clientId, environment, externalUserId } = link;
    await this.publisher.publish(
      { clientId, environment },
      {
        event: 'SIGN_IN_LINK_FAILED',
        externalUserId,
        merchant: merchantIn(await this.merchants.byIds([link.merchantId]), link),
        data: { sign_in_link_id: link.id, reason },
      },
    );
  }

  /** Publishes the events of expired links. @returns whether there may be more */
  @Transactional()
  async publishExpired(pageSize = ENDED_LINKS_PER_PAGE): Promise<boolean> {
    const links = await this.repository.finishExpired(this.clock.now(), pageSize);
    if (links.length === 0) return false;
    const merchants = await this.merchants.byIds(links.map(({ merchantId }) => merchantId));
    await this.publisher.publishAll(
      links.map((link) => ({
        client: { clientId: link.clientId, environment: link.environment },
        event: {
          event: 'SIGN_IN_LINK_EXPIRED',
          externalUserId: link.externalUserId,
          merchant: merchantIn(merchants, link),
          data: { sign_in_link_id: link.id },
        },
      })),
    );
    return links.length === pageSize;
  }

  /** Has the gateway undo the sign-ins of links that have ended. @returns whether there may be more */
  @Transactional()
  async undoEnded(): Promise<boolean> {
    const now = this.clock.now();
    const askedBefore = new Date(now.getTime() - UNDO_AFTER);
    const signIns = await this.repository.takeSignIns(askedBefore, now, ENDED_LINKS_PER_PAGE);
    await this.merchantSignIn.undoLater(signIns, now);
    return signIns.length === ENDED_LINKS_PER_PAGE;
  }

  /** Stores the link unless the MCP token is revoked: a link that is stored before the revocation is cancelled with it. */
  @Transactional()
  protected async store(link: SignInLink): Promise<void> {
    const { mcpTokenHash } = link;
    if (mcpTokenHash && !(await this.mcpTokens.lockUnlessRevoked(mcpTokenHash)))
      throw INVALID_ACCESS_TOKEN.error('The MCP token is not valid.');
    await this.transaction.manager.insert(SignInLink, link);
  }

  /**
   * Sends the text message. If that fails, the link fails. If the message can never be delivered, the link does not count toward
   * the limit of links per user.
   */
  private async send(link: SignInLink, agent: SignInAgent, message: TextMessage): Promise<void> {
    try {
      await this.textMessages.send(message);
    } catch (error) {
      const isUndeliverable = error instanceof UndeliverableTextMessage;
      this.logger[isUndeliverable ? 'warn' : 'error'](
        `The text message with a sign-in link could not be sent: ${(error as Error).message}`,
        { link_id: link.id },
      );
      await this.fail(link, 'not_sent');
      if (!isUndeliverable) throw SERVICE_UNAVAILABLE.error(NOT_SENT, { retryAfter: RETRY_AFTER_SECONDS });
      await this.linksPerUser.subtract(subjectOf(agent));
      throw PHONE_NUMBER_UNREACHABLE.error(undeliverable(error.reason));
    }
  }

  private toResponse(link: SignInLink, { id, name }: CatalogEntry): SignInLinkResponse {
    const status = statusOf(link, this.clock.now());
    return {
      id: link.id,
      merchant: { id, name },
      status,
      failure_reason: status === 'failed' ? failureOf(link) : null,
      session_id: link.sessionId,
      created_at: link.createdAt,
      expires_at: link.expiresAt,
    };
  }
}

/** Agents read this sentence. */
export const SIGN_IN_NOT_CONFIGURED =
  'Sign-in to merchants is not configured in this environment, so no sign-in link works for any merchant.';
const PREMIUM_RATE =
  'The phone number of this connection is a premium-rate number, which gets no text messages. The company can create an MCP token with another phone number.';
const TOO_MANY_LINKS = `A user gets at most ${LINKS_PER_HOUR} sign-in links per hour. Retry after the time in retry_after.`;
const NOT_SENT = 'The text message with the sign-in link could not be sent. Create another link later.';

const UNDELIVERABLE: Readonly<Record<UndeliverableReason, string>> = {
  stopped:
    'the user has stopped the messages of this sender by replying STOP, and can allow them again by replying START',
  unknownNumber: 'the number does not exist',
  notMobile: 'the number cannot receive text messages, for example because it is a landline',
  regionDisabled: 'text messages to the region of the number are not enabled',
};

function undeliverable(reason: UndeliverableReason): string {
  return `No text message can be sent to the phone number of this connection: ${UNDELIVERABLE[reason]}. Unless that changes, another link would fail too. The company can create an MCP token with another phone number.`;
}

export function statusOf({ status, expiresAt }: SignInLink, now: Date): SignInLinkStatus {
  return status === 'pending' && expiresAt <= now ? 'expired' : status;
}

/** Returns why a link failed. No attempt was possible if its text message was not sent. */
function failureOf({ attempts }: SignInLink): SignInFailure {
  if (attempts === 0) return 'not_sent';
  return attempts < MAX_ATTEMPTS ? 'denied' : 'too_many_attempts';
}

function merchantIn(
  merchants: ReadonlyMap<number, CatalogEntry>,
  { merchantId }: Pick<SignInLink, 'merchantId'>,
): CatalogEntry {
  const merchant = merchants.get(merchantId);
  if (!merchant) throw new Error(`There is no merchant ${merchantId}`);
  return merchant;
}

function userOf({
  client: { clientId },
  externalUserId,
}: Pick<SignInAgent, 'client' | 'externalUserId'>): ExternalUser {
  return { clientId, externalUserId };
}

/** Returns the key by which the limit counts links per user. */
function subjectOf({ client: { clientId }, externalUserId }: SignInAgent): string {
  return `${clientId} ${externalUserId}`;
}

/** The URL ends with a letter or digit and stands before a space, so that every phone recognizes its end. */
function textOf(organization: string, merchant: string, url: string): string {
  return (
    `${organization} asks you to sign in to ${merchant}: ${url} ` +
    `The link works once, for ${LINK_LIFETIME / MINUTE} minutes. If you did not expect this, ignore it.`
  );
}
