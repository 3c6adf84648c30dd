import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { INVALID_ACCESS_TOKEN } from '../../infrastructure/auth/index.js';
import { generateSecret, sha256 } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { ApiError, SERVICE_UNAVAILABLE, TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import type { SessionMetadata } from '../../infrastructure/event-catalog/index.js';
import { PublicAddress } from '../../infrastructure/http/index.js';
import {
  IDEMPOTENCY_ERRORS,
  IdempotentRequests,
  type IdempotentRequest,
} from '../../infrastructure/idempotency/index.js';
import {
  TextMessages,
  UndeliverableTextMessage,
  type TextMessage,
  type UndeliverableReason,
} from '../../infrastructure/messages/index.js';
import {
  AttemptLimitsRepository,
  subtractAll,
  type CountedAttempt,
} from '../../infrastructure/rate-limiting/index.js';
import { Clock, DAY, HOUR, MINUTE } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditActor } from '../audit-logs/index.js';
import { McpTokensRepository } from '../mcp-tokens/index.js';
import type { CatalogEntry } from '../merchants/index.js';
import { OrganizationsService } from '../organizations/index.js';
import { SignInLink, type SignInLinkSource } from './sign-in-link.entity.js';
import { PHONE_NUMBER_UNREACHABLE } from './sign-in-links-errors.js';
import { SignInLinksConfiguration } from './sign-in-links.configuration.js';
import { SignInLinksService, type SignInAgent } from './sign-in-links.service.js';
import { loginPathOf } from './sign-in-logins.service.js';

const LINKS_PER_HOUR = 5;
/** Seconds. The `retry_after` value when a text message could not be sent. */
const RETRY_AFTER_SECONDS = 60;

/** The properties that a link is created from. */
export interface LinkRequest extends SignInAgent {
  readonly merchant: CatalogEntry;
  readonly source: SignInLinkSource;
  /** Milliseconds. */
  readonly lifetime: number;
  readonly returnUrl?: string | undefined;
  readonly metadata?: SessionMetadata | undefined;
  /** The user of the dashboard, for the audit log. */
  readonly actor?: AuditActor;
  readonly idempotent?: IdempotentRequest | undefined;
}

/** A link, and the address that it is sent with. */
export interface NewLink {
  readonly link: SignInLink;
  readonly merchant: CatalogEntry;
  readonly url: string;
}

/** Stores new sign-in links within their limits, and sends those to phones. */
@Injectable()
export class SignInLinkSendingService {
  private readonly logger = new Logger('Sign-in links');
  private readonly linksPerUser = this.limits.limit('sign-in-links', {
    attempts: LINKS_PER_HOUR,
    within: HOUR,
  });

  private readonly linksPerClient = this.limits.limit('sign-in-links-of-client', {
    attempts: this.settings.perClientAndDay,
    within: DAY,
  });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly settings: SignInLinksConfiguration,
    private readonly transaction: Transaction,
    private readonly idempotentRequests: IdempotentRequests,
    private readonly organizations: OrganizationsService,
    private readonly mcpTokens: McpTokensRepository,
    private readonly textMessages: TextMessages,
    private readonly auditLog: AuditLog,
    private readonly links: SignInLinksService,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores a link, and sends it if it has a phone number. Limits and the text message use no connection of the transaction that stores
   * the link: a text message takes seconds.
   *
   * @param respond returns the response, which is stored with the idempotency key of the request, if it has one
   * @throws ApiError TOO_MANY_REQUESTS, INVALID_ACCESS_TOKEN, PHONE_NUMBER_UNREACHABLE, SERVICE_UNAVAILABLE
   */
  async add<Response extends object>(
    request: LinkRequest,
    respond: (link: NewLink) => Response,
  ): Promise<Response> {
    const { client, idempotent, organizationId, externalUserId, tokenHash, merchant, phoneNumber } = request;
    const { clientId, environment } = client;
    const tooManyLinks = (retryAfter: number): ApiError =>
      TOO_MANY_REQUESTS.error(TOO_MANY_LINKS, { retryAfter });
    const error = (retryAfter: number): ApiError =>
      TOO_MANY_REQUESTS.error(TOO_MANY_LINKS_OF_CLIENT, { retryAfter });
    const attempts = [
      { limit: this.linksPerUser, subject: subjectOf(request), error: tooManyLinks },
      ...(phoneNumber === undefined
        ? [{ limit: this.linksPerClient, subject: clientId, error }]
        : this.textMessages.limitsOf({ client, to: phoneNumber })),
    ];
    const token = generateSecret('');
    const id = randomUUID();
    const url =
      phoneNumber === undefined ? this.urlOf({ id }) : `${this.address.of('connector')}/sign-in/${token}`;
    const organization = await this.organizations.nameOf(organizationId);
    const createdAt = this.clock.now();
    const link: SignInLink = {
      id,
      tokenHash: sha256(token),
      clientId,
      environment,
      externalUserId,
      mcpTokenHash: tokenHash ?? null,
      merchantId: merchant.id,
      proof: phoneNumber === undefined ? 'partner_login' : 'phone',
      source: request.source,
      returnUrl: request.returnUrl ?? null,
      metadata: request.metadata ?? null,
      status: 'pending',
      cancelledBy: null,
      signInId: null,
      signInAskedAt: null,
      attempts: 0,
      challengeSealed: null,
      sessionId: null,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + request.lifetime),
      finishedAt: null,
    };
    const response = respond({ link, merchant, url });
    const content = { externalUserId };
    if (phoneNumber === undefined) {
      const storeOnce = () =>
        this.idempotentRequests.once(
          idempotent,
          async () => {
            await this.store(link, merchant, request.actor);
            return response;
          },
          content,
        );
      const stored = await this.limits.attempt(attempts, () => takenBackIfRepeated(attempts, storeOnce));
      // Otherwise, another process has processed the same request meanwhile.
      if (stored !== response) await subtractAll(attempts);
      return stored;
    }
    await this.limits.attempt(attempts, () => this.store(link, merchant, request.actor));
    const body = textOf(organization, merchant.name, url, request.lifetime);
    await this.send(link, request, { client, to: phoneNumber, body, lifetime: request.lifetime });
    // The response must not be stored earlier: a repeated request would report a message that was never sent.
    return this.idempotentRequests.once(idempotent, () => Promise.resolve(response), content);
  }

  /** Returns the address of a link that requires a login. */
  urlOf({ id }: Pick<SignInLink, 'id'>): string {
    return this.address.of('connector') + loginPathOf(id);
  }

  /** Stores the link unless the MCP token is revoked: a link that is stored before the revocation is cancelled with it. */
  @Transactional()
  protected async store(link: SignInLink, { name }: CatalogEntry, actor?: AuditActor): Promise<void> {
    const { mcpTokenHash } = link;
    if (mcpTokenHash && !(await this.mcpTokens.lockUnlessRevoked(mcpTokenHash)))
      throw INVALID_ACCESS_TOKEN.error('The MCP token is not valid.');
    await this.transaction.manager.insert(SignInLink, link);
    const { environment } = link;
    if (actor)
      await this.auditLog.record({ action: 'sign_in_link.create', actor, target: { name, environment } });
  }

  /**
   * Sends the text message. If that fails, the link fails. If the message can never be delivered, the link does not count toward
   * the limit of links per user.
   */
  private async send(link: SignInLink, request: LinkRequest, message: TextMessage): Promise<void> {
    try {
      await this.textMessages.send(message);
    } catch (error) {
      const isUndeliverable = error instanceof UndeliverableTextMessage;
      this.logger[isUndeliverable ? 'warn' : 'error'](
        `The text message with a sign-in link could not be sent: ${(error as Error).message}`,
        { link_id: link.id },
      );
      await this.links.fail(link, 'not_sent');
      if (!isUndeliverable) throw SERVICE_UNAVAILABLE.error(NOT_SENT, { retryAfter: RETRY_AFTER_SECONDS });
      await this.linksPerUser.subtract(subjectOf(request));
      throw PHONE_NUMBER_UNREACHABLE.error(undeliverable(error.reason, request.source));
    }
  }
}

const TOO_MANY_LINKS = `A user gets at most ${LINKS_PER_HOUR} sign-in links per hour. Retry after the time in retry_after.`;
const TOO_MANY_LINKS_OF_CLIENT =
  'The company has created too many sign-in links today. Retry after the time in retry_after.';
const NOT_SENT = 'The text message with the sign-in link could not be sent. Create another link later.';

const UNDELIVERABLE: Readonly<Record<UndeliverableReason, string>> = {
  stopped:
    'the user has stopped the messages of this sender by replying STOP, and can allow them again by replying START',
  unknownNumber: 'the number does not exist',
  notMobile: 'the number cannot receive text messages, for example because it is a landline',
  regionDisabled: 'text messages to the region of the number are not enabled',
};

function undeliverable(reason: UndeliverableReason, source: SignInLinkSource): string {
  if (source !== 'agent') return `No text message can be sent to the phone number: ${UNDELIVERABLE[reason]}.`;
  return `No text message can be sent to the phone number of this connection: ${UNDELIVERABLE[reason]}. Unless that changes, another link would fail too. The company can create an MCP token with another phone number.`;
}

/** Does work whose attempt does not count if the same idempotency key is in use elsewhere. */
async function takenBackIfRepeated<Result>(
  attempts: readonly CountedAttempt[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isRepeated =
      error instanceof ApiError && IDEMPOTENCY_ERRORS.some(({ code }) => code === error.code);
    if (isRepeated) await subtractAll(attempts);
    throw error;
  }
}

/** Returns the key by which the limit counts links per user. */
function subjectOf({ client: { clientId }, externalUserId }: LinkRequest): string {
  return `${clientId} ${externalUserId}`;
}

/** Returns a duration in the largest unit of which it is a multiple, such as `15 minutes`. */
function durationOf(milliseconds: number): string {
  const [unit, name] = milliseconds % HOUR === 0 ? [HOUR, 'hour'] : ([MINUTE, 'minute'] as const);
  const count = Math.floor(milliseconds / unit);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** The URL ends with a letter or digit and stands before a space, so that every phone recognizes its end. */
function textOf(organization: string, merchant: string, url: string, lifetime: number): string {
  return (
    `${organization} asks you to sign in to ${merchant}: ${url} ` +
    `The link works once, for ${durationOf(lifetime)}. If you did not expect this, ignore it.`
  );
}
