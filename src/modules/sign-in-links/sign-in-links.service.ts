import { Injectable } from '@nestjs/common';
import { In, MoreThan, type FindOptionsWhere } from 'typeorm';
import {
  AccessibleClients,
  isDashboardUser,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { CursorCodec, type CursorScope } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import type { AttributedClient, RequestAttribution, RequestOrigin } from '../../infrastructure/http/index.js';
import { IdempotentRequests, type IdempotentRequest } from '../../infrastructure/idempotency/index.js';
import type { SessionMetadata } from '../../infrastructure/event-catalog/index.js';
import { cutToPage, type RequestedPage } from '../../infrastructure/paging/index.js';
import { Clock, DAY, SECOND } from '../../infrastructure/time/index.js';
import { SIGN_IN_FAILURE } from './sign-in-links.capability.js';
import { actorOf, AuditLog, type AuditActor } from '../audit-logs/index.js';
import type { McpTokenRevocationListener, EndedConnections, RevokedMcpToken } from '../mcp-tokens/index.js';
import { MerchantAccountsService } from '../merchant-accounts/index.js';
import { MerchantGatewayService } from '../merchant-gateway/index.js';
import { MerchantCatalogService, type CatalogEntry } from '../merchants/index.js';
import { WebhookPublisher } from '../webhooks/index.js';
import { SignInLink, type SignInLinkCanceller, type SignInLinkStatus } from './sign-in-link.entity.js';
import type {
  ListSignInLinksQuery,
  SignInLinkListResponse,
  SignInLinkResponse,
} from './sign-in-links.dto.js';
import { SIGN_IN_LINK_NOT_FOUND } from './sign-in-links-errors.js';
import { SignInLinksRepository, type EndedLink, type ExternalUser } from './sign-in-links.repository.js';

/** Maximum number of times that one link sends credentials or codes to the merchant. */
export const MAX_ATTEMPTS = 5;
/** Milliseconds after their creation for which links are in lists. */
const LISTED_FOR = 7 * DAY;
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

/** The user of a link. */
type LinkOwner = Pick<SignInAgent, 'client' | 'externalUserId'>;

/** Why a link failed: see `SIGN_IN_FAILURE`. */
export type SignInFailure = (typeof SIGN_IN_FAILURE.values)[number];

interface LinkCancellation {
  readonly environment?: PlatformEnvironment | undefined;
  readonly idempotent?: IdempotentRequest | undefined;
}

type OneLink = FindOptionsWhere<SignInLink> & { readonly id: string };

/** Lists and ends sign-in links. Each is sent to the phone of the user, or requires a login, so that only the user can use it. */
@Injectable()
export class SignInLinksService implements McpTokenRevocationListener {
  constructor(
    private readonly transaction: Transaction,
    private readonly idempotentRequests: IdempotentRequests,
    private readonly repository: SignInLinksRepository,
    private readonly merchants: MerchantCatalogService,
    private readonly accounts: MerchantAccountsService,
    private readonly gateway: MerchantGatewayService,
    private readonly publisher: WebhookPublisher,
    private readonly auditLog: AuditLog,
    private readonly clients: AccessibleClients,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

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

  /**
   * Returns the link that the agent got for the merchant, if the link is pending or, if wanted, completed and still the one that
   * connects the account.
   */
  async findKnown(
    agent: SignInAgent,
    merchantId: number,
    mayBeCompleted: boolean,
  ): Promise<SignInLink | null> {
    const { tokenHash: mcpTokenHash } = agent;
    if (!mcpTokenHash) return null;
    const link = await this.transaction.manager.findOne(SignInLink, {
      where: {
        ...userOf(agent),
        merchantId,
        mcpTokenHash,
        proof: 'partner_login',
        status: In(mayBeCompleted ? ['pending', 'completed'] : ['pending']),
        expiresAt: MoreThan(this.clock.now()),
      },
      order: { createdAt: 'DESC' },
    });
    if (link?.status !== 'completed') return link;
    return (await this.accounts.isConnectedBy(String(link.sessionId), link)) ? link : null;
  }

  /** @throws ApiError NOT_FOUND if the user has no such link */
  async find(agent: LinkOwner, linkId: string): Promise<SignInLinkResponse> {
    return this.one({ ...userOf(agent), id: linkId });
  }

  /**
   * Returns a page of the user's links of the last week, the newest first.
   *
   * @throws ApiError INVALID_CURSOR_FORMAT
   */
  async page(agent: LinkOwner, { cursor, limit }: RequestedPage): Promise<SignInLinkListResponse> {
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
      limit,
    };
  }

  /**
   * Cancels a pending link. Idempotent: links that are finished or expired stay as they are.
   *
   * @throws ApiError NOT_FOUND if the user has no such link
   */
  async cancel(agent: SignInAgent, linkId: string): Promise<SignInLinkResponse> {
    const { id } = await this.find(agent, linkId);
    await this.repository.finish(id, { status: 'cancelled', cancelledBy: 'agent' }, this.clock.now());
    return this.find(agent, id);
  }

  /** Returns a link of the API client. @throws ApiError NOT_FOUND */
  async get({ clientId }: AttributedClient, linkId: string): Promise<SignInLinkResponse> {
    return this.one({ id: linkId, clientId });
  }

  private async one(where: OneLink): Promise<SignInLinkResponse> {
    const link = SIGN_IN_LINK_NOT_FOUND.requireFound(await this.transaction.findById(SignInLink, where));
    return this.toResponse(link, merchantIn(await this.merchants.byIds([link.merchantId]), link));
  }

  /**
   * Cancels a pending link for its API client, or for a user of the organization. Idempotent, like `cancel`.
   *
   * @param options.environment that of the link; absent if it can be any
   * @throws ApiError NOT_FOUND
   */
  cancelFor(
    requester: RequestingOrganization,
    linkId: string,
    origin: RequestOrigin,
    { environment, idempotent }: LinkCancellation = {},
  ): Promise<SignInLinkResponse> {
    const isUser = isDashboardUser(requester);
    const cancel = async (): Promise<SignInLinkResponse> => {
      const accessible = isUser ? await this.clients.all(requester) : [requester];
      const clients = accessible.filter((each) => (environment ?? each.environment) === each.environment);
      const where = { id: linkId, clientId: In(clients.map(({ clientId }) => clientId)) };
      const actor = isUser ? { ...requester, origin } : actorOf(requester, origin);
      return this.cancelRecorded(where, isUser ? 'dashboard' : 'backend', actor);
    };
    return this.auditLog.inTurn(requester.organizationId, () =>
      this.idempotentRequests.once(idempotent, cancel),
    );
  }

  /** Cancels a pending link for its user. Idempotent, like `cancel`. @throws ApiError NOT_FOUND */
  async cancelByUser(user: LinkOwner, linkId: string, actor: AuditActor): Promise<void> {
    const where = { ...userOf(user), id: linkId };
    await this.auditLog.inTurn(actor.organizationId, () => this.cancelRecorded(where, 'user', actor));
  }

  @Transactional()
  protected async cancelRecorded(
    where: OneLink,
    cancelledBy: SignInLinkCanceller,
    actor: AuditActor,
  ): Promise<SignInLinkResponse> {
    const link = SIGN_IN_LINK_NOT_FOUND.requireFound(await this.transaction.findById(SignInLink, where));
    const { id, clientId, environment, merchantId } = link;
    if (await this.repository.finish(id, { status: 'cancelled', cancelledBy }, this.clock.now())) {
      const { name } = merchantIn(await this.merchants.byIds([merchantId]), link);
      const target = { name, environment };
      await this.auditLog.record({ action: 'sign_in_link.cancel', actor, target });
    }
    return this.one({ id, clientId });
  }

  /** Returns the newest pending links of a user. */
  async pendingOf(user: LinkOwner, limit: number): Promise<SignInLinkResponse[]> {
    const links = await this.transaction.manager.find(SignInLink, {
      where: { ...userOf(user), status: 'pending', expiresAt: MoreThan(this.clock.now()) },
      order: { createdAt: 'DESC', id: 'DESC' },
      take: limit,
    });
    const merchants = await this.merchants.byIds(links.map(({ merchantId }) => merchantId));
    return links.map((link) => this.toResponse(link, merchantIn(merchants, link)));
  }

  /** Cancels the pending links that an agent created with a token, when the token is revoked. */
  async onRevoked({ tokenHash, ...user }: RevokedMcpToken): Promise<void> {
    await this.repository.cancelByMcpToken(user, tokenHash, this.clock.now());
  }

  /** Cancels the pending links that agents created, when their connections end. */
  async onConnectionsEnded(connections: EndedConnections): Promise<void> {
    await this.repository.cancelByConnections(connections, this.clock.now());
  }

  /** Fails a link that is still pending, and publishes the event in the same transaction. */
  @Transactional()
  async fail(link: EndedLink, reason: SignInFailure): Promise<void> {
    if (!(await this.repository.finish(link.id, { status: 'failed' }, this.clock.now()))) return;
    const { clientId, environment, externalUserId } = link;
    await this.publisher.publish(
      { clientId, environment },
      {
        event: 'SIGN_IN_LINK_FAILED',
        externalUserId,
        merchant: merchantIn(await this.merchants.byIds([link.merchantId]), link),
        data: { sign_in_link_id: link.id, reason, ...metadataOf(link) },
      },
    );
  }

  /** Returns the IDs of links that have expired, and whose events were not published. */
  async expired(): Promise<string[]> {
    return this.repository.expired(this.clock.now(), ENDED_LINKS_PER_PAGE);
  }

  /** Publishes the events of expired links. @param id only of this link @returns whether there may be more */
  @Transactional()
  async publishExpired(pageSize = ENDED_LINKS_PER_PAGE, id?: string): Promise<boolean> {
    const links = await this.repository.finishExpired(this.clock.now(), pageSize, id);
    if (links.length === 0) return false;
    const merchants = await this.merchants.byIds(links.map(({ merchantId }) => merchantId));
    await this.publisher.publishAll(
      links.map((link) => ({
        client: { clientId: link.clientId, environment: link.environment },
        event: {
          event: 'SIGN_IN_LINK_EXPIRED',
          externalUserId: link.externalUserId,
          merchant: merchantIn(merchants, link),
          data: { sign_in_link_id: link.id, ...metadataOf(link) },
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
    await this.gateway.undoLater(signIns);
    return signIns.length === ENDED_LINKS_PER_PAGE;
  }

  /** Returns a link as the API does. */
  toResponse(link: SignInLink, { id, name }: CatalogEntry): SignInLinkResponse {
    const status = statusOf(link, this.clock.now());
    return {
      id: link.id,
      merchant: { id, name },
      status,
      failure_reason: status === 'failed' ? failureOf(link) : null,
      cancelled_by: link.cancelledBy,
      proof: link.proof,
      source: link.source,
      session_id: link.sessionId,
      created_at: link.createdAt,
      expires_at: link.expiresAt,
    };
  }
}

export function statusOf({ status, expiresAt }: SignInLink, now: Date): SignInLinkStatus {
  return status === 'pending' && expiresAt <= now ? 'expired' : status;
}

/** Returns why a link failed. No attempt was possible if its text message was not sent. */
function failureOf({ attempts }: SignInLink): SignInFailure {
  if (attempts === 0) return 'not_sent';
  return attempts < MAX_ATTEMPTS ? 'denied' : 'too_many_attempts';
}

export function merchantIn(
  merchants: ReadonlyMap<number, CatalogEntry>,
  { merchantId }: Pick<SignInLink, 'merchantId'>,
): CatalogEntry {
  const merchant = merchants.get(merchantId);
  if (!merchant) throw new Error(`There is no merchant ${merchantId}`);
  return merchant;
}

function userOf({ client: { clientId }, externalUserId }: LinkOwner): ExternalUser {
  return { clientId, externalUserId };
}

function metadataOf({ metadata }: EndedLink): { readonly metadata?: SessionMetadata } {
  return metadata && Object.keys(metadata).length > 0 ? { metadata } : {};
}
