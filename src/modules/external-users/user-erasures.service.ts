import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import {
  userDataHolders,
  UserPseudonyms,
  type ErasedUser,
  type UserDataHolder,
} from '../../infrastructure/erasure/index.js';
import type { RequestAttribution } from '../../infrastructure/http/index.js';
import { IdempotentRequests, type IdempotentRequest } from '../../infrastructure/idempotency/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditActor } from '../audit-logs/index.js';
import { UserErasure } from './user-erasure.entity.js';
import { toErasureResponse, type UserErasureResponse } from './user-erasures.dto.js';
import { ERASURE_NOT_FOUND } from './external-users-errors.js';
import { UserErasuresRepository, type ClaimedErasure } from './user-erasures.repository.js';

/** The batches that end before the response is sent. Only a user who has this many tokens by mistake needs more. */
const BATCHES_BEFORE_RESPONSE = 20;

type ErasingClient = Pick<AuthenticatedClient, 'clientId' | 'organizationId' | 'environment'>;

/** Accepts requests to erase users, which `UserErasuresJob` completes, and knows their progress. */
@Injectable()
export class UserErasuresService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: UserErasuresRepository,
    private readonly discovery: DiscoveryService,
    private readonly pseudonyms: UserPseudonyms,
    private readonly auditLog: AuditLog,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
    private readonly idempotentRequests: IdempotentRequests,
  ) {}

  /**
   * Like `request`, once for each idempotency key. The key is claimed with the erasure, and the response is stored after everything
   * that it promises, so a request that was interrupted continues. It does not name the user, and is not deleted with the user.
   *
   * @param attribution of a request whose body names the user, who must not get into the request log
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, ONGOING_OPERATION
   */
  async requestOnce(
    client: ErasingClient,
    externalUserId: string,
    actor: Omit<AuditActor, 'organizationId'>,
    attribution: RequestAttribution,
    idempotent: IdempotentRequest | undefined,
  ): Promise<UserErasureResponse> {
    // This is done even if the response is repeated.
    attribution.externalUserId = null;
    return this.idempotentRequests.replayOr(idempotent, async () => {
      const response = await this.request(client, externalUserId, actor, idempotent);
      return this.idempotentRequests.once(idempotent, () => Promise.resolve(response));
    });
  }

  /** Stores the erasure, which the job continues, and ends everything with which others act for the user. */
  async request(
    client: ErasingClient,
    externalUserId: string,
    actor: Omit<AuditActor, 'organizationId'>,
    idempotent?: IdempotentRequest,
  ): Promise<UserErasureResponse> {
    const { clientId, environment, organizationId } = client;
    const pseudonym = this.pseudonyms.of({ clientId, externalUserId });
    const user = { clientId, environment, organizationId, externalUserId, pseudonym };
    const store = () => this.store(user, { ...actor, organizationId });
    const id = await this.auditLog.inTurn(organizationId, () =>
      this.idempotentRequests.claim(idempotent, store),
    );
    for (const holder of userDataHolders(this.discovery, 'access')) {
      let batches = 0;
      while ((await this.eraseBatch(id, user, holder)) > 0 && (batches += 1) < BATCHES_BEFORE_RESPONSE);
    }
    return this.get(client, externalUserId);
  }

  /** @throws ApiError ERASURE_NOT_FOUND */
  async get(client: Pick<ErasingClient, 'clientId'>, externalUserId: string): Promise<UserErasureResponse> {
    return ERASURE_NOT_FOUND.requireFound(await this.find(client, externalUserId));
  }

  async find(
    { clientId }: Pick<ErasingClient, 'clientId'>,
    externalUserId: string,
  ): Promise<UserErasureResponse | undefined> {
    const pseudonym = this.pseudonyms.of({ clientId, externalUserId });
    const erasure = await this.transaction.manager.findOneBy(UserErasure, { clientId, pseudonym });
    return erasure ? toErasureResponse(erasure) : undefined;
  }

  @Transactional()
  protected async store(
    { clientId, environment, externalUserId, pseudonym }: ErasedUser,
    actor: AuditActor,
  ): Promise<string> {
    const id = await this.repository.add({
      id: randomUUID(),
      clientId,
      pseudonym,
      externalUserIdSealed: this.sealer.seal(externalUserId, ownerOfIdentifier(clientId, pseudonym)),
      requestedAt: this.clock.now(),
    });
    // The entry must not name the user.
    await this.auditLog.record({ action: 'external_user.erase', actor, target: { environment } });
    return id;
  }

  /** Erases a batch of what a module stores about the user. @returns how many rows were erased */
  @Transactional()
  async eraseBatch(id: string, user: ErasedUser, holder: UserDataHolder): Promise<number> {
    const erased = await holder.eraseBatch(user);
    if (erased > 0) await this.repository.progress(id, erased);
    return erased;
  }

  /** Returns the user whose erasure is claimed. */
  userOf({ externalUserIdSealed, ...erasure }: ClaimedErasure): ErasedUser {
    const { clientId, environment, organizationId, pseudonym } = erasure;
    const externalUserId = this.sealer.open(externalUserIdSealed, ownerOfIdentifier(clientId, pseudonym));
    return { clientId, environment, organizationId, pseudonym, externalUserId };
  }
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted identifier is bound to. */
function ownerOfIdentifier(clientId: string, pseudonym: string): string[] {
  return ['user_erasure', clientId, pseudonym];
}
