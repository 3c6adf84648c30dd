import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { merchantIdsIn, merchantsFieldOf, validateData } from '../../infrastructure/event-catalog/index.js';
import { DetectedAccountsService, type DetectAccountsRequest } from '../detected-accounts/index.js';
import { MerchantAccountsService } from '../merchant-accounts/index.js';
import { MerchantCatalogService, requireMerchants } from '../merchants/index.js';
import { SESSION_NOT_FOUND, SessionsService, type SessionDetails } from '../sessions/index.js';
import { requireEventTime, WebhookEventsRepository, WebhookPublisher } from '../webhooks/index.js';
import type {
  DisconnectAccountRequest,
  LinkAccountRequest,
  LinkedAccountResponse,
  PublishedEventResponse,
  TriggeredWebhookResponse,
  TriggerWebhookRequest,
} from './sandbox.dto.js';
import { triggeredData, triggeredEvent } from './triggered-event.js';

/** Simulates what happens at merchants, so that integrators can test without a real one. */
@Injectable()
export class SandboxService {
  constructor(
    private readonly publisher: WebhookPublisher,
    private readonly sessions: SessionsService,
    private readonly merchants: MerchantCatalogService,
    private readonly accounts: MerchantAccountsService,
    private readonly detectedAccounts: DetectedAccountsService,
    private readonly events: WebhookEventsRepository,
    private readonly clock: Clock,
  ) {}

  async link(client: AuthenticatedClient, request: LinkAccountRequest): Promise<LinkedAccountResponse> {
    requireEventTime(request.timestamp, this.clock.now());
    const { external_user_id: externalUserId, session_id: sessionId = randomUUID() } = request;
    const session = await this.sessionOf(client, request.session_id, externalUserId);
    const merchant = await this.merchants.require(request.merchant_id);
    const taskId = await this.events.nextTaskId();
    const eventId = await this.publisher.publish(
      client,
      {
        event: 'AUTHENTICATED',
        sessionId,
        taskId,
        externalUserId,
        merchant,
        data: { card_id: session?.cardId ?? null },
        metadata: session?.metadata,
      },
      request.timestamp,
    );
    return { event_id: eventId, task_id: taskId, session_id: sessionId };
  }

  @Transactional()
  async disconnect(
    client: AuthenticatedClient,
    request: DisconnectAccountRequest,
  ): Promise<PublishedEventResponse> {
    requireEventTime(request.timestamp, this.clock.now());
    const { external_user_id: externalUserId } = request;
    await this.sessionOf(client, request.session_id, externalUserId);
    const merchant = await this.merchants.require(request.merchant_id);
    await this.accounts.lockConnected({ clientId: client.clientId, externalUserId, merchantId: merchant.id });
    const eventId = await this.publisher.publish(
      client,
      { event: 'ACCOUNT_LOGIN_REQUIRED', externalUserId, merchant, data: {} },
      request.timestamp,
    );
    return { event_id: eventId };
  }

  @Transactional()
  async detect(client: AuthenticatedClient, request: DetectAccountsRequest): Promise<PublishedEventResponse> {
    const { event_id } = await this.detectedAccounts.record(client, request);
    return { event_id };
  }

  @Transactional()
  async trigger(
    client: AuthenticatedClient,
    request: TriggerWebhookRequest,
  ): Promise<TriggeredWebhookResponse> {
    requireEventTime(request.timestamp, this.clock.now());
    const data = triggeredData(request.event, request.data ?? {});
    const problem = validateData(request.event, data);
    if (problem !== undefined) throw INVALID_FIELD.error(problem);
    const session = await this.sessionOf(client, request.session_id);
    const named = merchantIdsIn(request.event, data);
    requireMerchants(named, await this.merchants.byIds(named), merchantsFieldOf(request.event));
    const event = triggeredEvent(request.event, {
      sessionId: request.session_id,
      taskId: await this.events.nextTaskId(),
      externalUserId: request.external_user_id ?? session?.externalUserId,
      merchant:
        request.merchant_id === undefined ? undefined : await this.merchants.require(request.merchant_id),
      data,
      // For a session without metadata, the event has none either, instead of the example's.
      metadata: request.metadata ?? (session && (session.metadata ?? {})),
    });
    const eventId = await this.publisher.publish(client, event, request.timestamp);
    return { event_id: eventId, task_id: 'taskId' in event ? event.taskId : null };
  }

  /** If a user is given, sessions of other users count as unknown. */
  private async sessionOf(
    { clientId }: AuthenticatedClient,
    sessionId: string | undefined,
    externalUserId?: string,
  ): Promise<SessionDetails | undefined> {
    if (sessionId === undefined) return undefined;
    const session = await this.sessions.detailsOf(clientId, sessionId);
    const isOfUser = externalUserId === undefined || session?.externalUserId === externalUserId;
    if (!session || !isOfUser) throw SESSION_NOT_FOUND.error();
    return session;
  }
}
