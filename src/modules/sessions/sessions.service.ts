import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { KeyedQueue } from '../../infrastructure/queues/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { IdempotentRequests, type IdempotentRequest } from '../../infrastructure/idempotency/index.js';
import type { AttributedClient, RequestAttribution } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import {
  mergeMetadata,
  validateMetadataSize,
  type SessionMetadata,
} from '../../infrastructure/event-catalog/index.js';
import { ApiClientDirectory } from '../api-clients/index.js';
import { Session } from './session.entity.js';
import {
  SESSION_LIFETIME,
  type CreateSessionRequest,
  type OpenedSessionResponse,
  type OpenSessionRequest,
  type SessionResponse,
} from './sessions.dto.js';
import { EXTEND_NOT_SUPPORTED, SESSION_NOT_FOUND } from './sessions-errors.js';
import { SessionsRepository, toDetails, type SessionDetails } from './sessions.repository.js';

/** Sessions of users in the client SDK, and their metadata (specification, "Sessions"). */
@Injectable()
export class SessionsService {
  /** By session. Changes of the same session wait here, without a database connection, instead of for the lock of its row. */
  private readonly changes = new KeyedQueue(1);

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: SessionsRepository,
    private readonly clients: ApiClientDirectory,
    private readonly sealer: Sealer,
    private readonly idempotentRequests: IdempotentRequests,
    private readonly clock: Clock,
  ) {}

  async create(
    { clientId }: AuthenticatedClient,
    request: CreateSessionRequest,
    attribution: RequestAttribution,
  ): Promise<SessionResponse> {
    const id = randomUUID();
    await this.store(id, clientId, request);
    attribution.sessionId = id;
    return { session: id };
  }

  /** Creates a session of type `link` for a user who signs in to a merchant outside the client SDK. */
  async createForSignIn(
    id: string,
    { clientId }: Pick<AttributedClient, 'clientId'>,
    {
      externalUserId,
      metadata,
    }: { readonly externalUserId: string; readonly metadata: SessionMetadata | null },
  ): Promise<void> {
    const attached = metadata && { metadata };
    await this.store(id, clientId, { type: 'link', external_user_id: externalUserId, ...attached });
  }

  private async store(id: string, clientId: string, request: CreateSessionRequest): Promise<void> {
    const createdAt = this.clock.now();
    await this.transaction.manager.insert(Session, {
      id,
      clientId,
      type: request.type,
      externalUserId: request.external_user_id,
      cardId: request.card_id ?? null,
      emailSealed: this.sealer.sealOptional(request.email, ['session', id, 'email']),
      phoneNumberSealed: this.sealer.sealOptional(request.phone_number, ['session', id, 'phone_number']),
      metadata: request.metadata ?? {},
      createdAt,
      expiresAt: new Date(createdAt.getTime() + SESSION_LIFETIME),
    });
  }

  /** Adds the time to the current expiry, not to the current time, so that extending a session early loses nothing. */
  async extend(
    { clientId }: AuthenticatedClient,
    id: string,
    attribution: RequestAttribution,
    idempotent?: IdempotentRequest,
  ): Promise<OpenedSessionResponse> {
    const session = await this.transaction.manager.findOneBy(Session, { id, clientId });
    if (!session) throw SESSION_NOT_FOUND.error();
    attribution.externalUserId = session.externalUserId;
    const extend = async (): Promise<OpenedSessionResponse> => {
      const expiresAt = await this.repository.extend(session, SESSION_LIFETIME, this.clock.now());
      if (!expiresAt) throw EXTEND_NOT_SUPPORTED.error();
      return { session: session.id, expires_at: expiresAt };
    };
    return this.changes.run(session.id, () =>
      this.idempotentRequests.once(idempotent, extend, { externalUserId: session.externalUserId }),
    );
  }

  /**
   * Opens a session for the SDK, whose only credential is the ID of the session. The SDK can therefore add metadata but
   * not read it. The request is logged for the client of the session.
   */
  open(request: OpenSessionRequest, attribution: RequestAttribution): Promise<OpenedSessionResponse> {
    return this.changes.run(request.session_id.toLowerCase(), () => this.openLocked(request, attribution));
  }

  @Transactional()
  private async openLocked(
    { session_id, metadata = {} }: OpenSessionRequest,
    attribution: RequestAttribution,
  ): Promise<OpenedSessionResponse> {
    const session = await this.transaction.lockRow(Session, { id: session_id });
    const client = session && (await this.clients.find(session.clientId));
    if (!client) throw SESSION_NOT_FOUND.error();
    attribution.client = { clientId: client.clientId, environment: client.environment };
    attribution.externalUserId = session.externalUserId;
    if (session.expiresAt <= this.clock.now()) throw SESSION_NOT_FOUND.error(EXTEND_NOT_SUPPORTED.message);
    const allMetadata = mergeMetadata(session.metadata, metadata);
    const problem = validateMetadataSize(allMetadata);
    if (problem !== undefined) throw INVALID_FIELD.error(problem);
    if (Object.keys(metadata).length > 0)
      await this.transaction.manager.update(Session, { id: session.id }, { metadata: allMetadata });
    return { session: session.id, expires_at: session.expiresAt };
  }

  /**
   * Returns the metadata and details of a client's session, which may have expired.
   *
   * @returns undefined if the client has no such session, or it has been deleted since
   */
  async detailsOf(clientId: string, sessionId: string): Promise<SessionDetails | undefined> {
    const session = await this.transaction.findById(Session, { id: sessionId, clientId });
    return session ? toDetails(session) : undefined;
  }
}
