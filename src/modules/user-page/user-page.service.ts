import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import { unlessStatus } from '../../infrastructure/errors/index.js';
import type { RequestOrigin } from '../../infrastructure/http/index.js';
import {
  CLIENT_USER,
  AgentConnectionsService,
  type AgentConnectionListResponse,
  type AgentIssuer,
} from '../agent-authorization/index.js';
import { AuditLog } from '../audit-logs/index.js';
import {
  MerchantAccountsService,
  type AccountCheck,
  type MerchantAccountPage,
} from '../merchant-accounts/index.js';
import { UnlinkingService } from '../merchant-gateway/index.js';
import { SignInLinksService, type SignInLinkResponse } from '../sign-in-links/index.js';

const ROWS = 20;
const MERCHANT_ID = /^\d{1,9}$/;

/** A user of a partner. */
export interface PageUser {
  readonly client: AgentIssuer;
  readonly externalUserId: string;
}

/** Where the lists of the page begin. */
export interface ListStarts {
  readonly agents: string | undefined;
  readonly accounts: string | undefined;
}

/** The data of a user that the page shows. */
export interface UserOverview {
  readonly agents: AgentConnectionListResponse;
  readonly accounts: MerchantAccountPage;
  readonly links: readonly SignInLinkResponse[];
}

export const END_ACTIONS = ['disconnect', 'unlink', 'cancel'] as const;
export type EndAction = (typeof END_ACTIONS)[number];

/** An agent, account or link that the user can end. */
export interface Endable {
  readonly action: EndAction;
  readonly id: string;
  /** Of the agent or the merchant. Several can have the same. */
  readonly name: string;
  /** The host of an agent; null for an account and a link. */
  readonly host: string | null;
  /** Since when the agent or the account is connected; when a link was created. */
  readonly since: Date;
}

/** Shows users who acts for them, and ends agents, accounts and links at their request. Ending one twice has no effect. */
@Injectable()
export class UserPageService {
  constructor(
    private readonly connections: AgentConnectionsService,
    private readonly accounts: MerchantAccountsService,
    private readonly unlinking: UnlinkingService,
    private readonly links: SignInLinksService,
    private readonly auditLog: AuditLog,
  ) {}

  /** @throws ApiError INVALID_CURSOR_FORMAT */
  async overview({ client, externalUserId }: PageUser, starts: ListStarts): Promise<UserOverview> {
    const query = { external_user_id: externalUserId, limit: ROWS };
    const [agents, accounts, links] = await Promise.all([
      this.connections.listOf(client, { ...query, cursor: starts.agents }),
      this.accounts.page(client, externalUserId, { cursor: starts.accounts, limit: ROWS }),
      this.links.pendingOf({ client, externalUserId }, ROWS),
    ]);
    return { agents, accounts, links };
  }

  /** Returns what the user asks to end; undefined if it has ended, or is not theirs. */
  async find(user: PageUser, action: EndAction, id: string): Promise<Endable | undefined> {
    const found = await unlessRefused(() => this[`${action}able`](user, id));
    return found && { action, id, ...found };
  }

  protected async disconnectable({ client, externalUserId }: PageUser, id: string): Promise<Found> {
    const connection = await this.connections.require(client, id);
    if (connection.externalUserId !== externalUserId || connection.endedAt !== null) return undefined;
    const { agentName, agentHost, createdAt } = connection;
    return { name: agentName, host: agentHost, since: createdAt };
  }

  protected async unlinkable({ client, externalUserId }: PageUser, id: string): Promise<Found> {
    if (!MERCHANT_ID.test(id)) return undefined;
    const { clientId } = client;
    const account = await this.accounts.find({ clientId, externalUserId, merchantId: Number(id) });
    if (account?.state !== 'connected') return undefined;
    return { name: account.merchant.name, host: null, since: account.since };
  }

  protected async cancelable(user: PageUser, id: string): Promise<Found> {
    const link = (await this.links.pendingOf(user, ROWS)).find((each) => each.id === id);
    return link && { name: link.merchant.name, host: null, since: link.created_at };
  }

  async disconnect({ client, externalUserId }: PageUser, id: string, origin: RequestOrigin): Promise<void> {
    const connection = await unlessRefused(() => this.connections.require(client, id));
    if (connection?.externalUserId !== externalUserId) return;
    const actor = { ...CLIENT_USER, origin };
    await this.connections.end(client, id, { action: 'agent.disconnect', actor });
  }

  /** @param check throws if the account was connected again: unlike an agent or a link, it still has the same ID then */
  async unlink(user: PageUser, merchant: string, origin: RequestOrigin, check: AccountCheck): Promise<void> {
    if (!MERCHANT_ID.test(merchant)) return;
    await unlessRefused(() =>
      this.auditLog.inTurn(user.client.organizationId, () =>
        this.unlinkAndRecord(user, Number(merchant), origin, check),
      ),
    );
  }

  @Transactional()
  protected async unlinkAndRecord(
    { client, externalUserId }: PageUser,
    merchantId: number,
    origin: RequestOrigin,
    check: AccountCheck,
  ): Promise<void> {
    const request = { external_user_id: externalUserId, merchant_id: merchantId };
    const { merchant } = await this.unlinking.unlink(client, request, {}, check);
    const { organizationId, environment } = client;
    await this.auditLog.record({
      action: 'merchant_account.unlink',
      actor: { ...CLIENT_USER, organizationId, origin },
      target: { name: merchant.name, environment },
    });
  }

  async cancel({ client, externalUserId }: PageUser, id: string, origin: RequestOrigin): Promise<void> {
    const actor = { ...CLIENT_USER, organizationId: client.organizationId, origin };
    await unlessRefused(() => this.links.cancelByUser({ client, externalUserId }, id, actor));
  }
}

type Found = Omit<Endable, 'action' | 'id'> | undefined;

/** Returns undefined if the thing that the user wants to end does not exist or has ended, for example in another tab. */
const unlessRefused = <Result>(work: () => Promise<Result>) => unlessStatus([404, 409], work);
