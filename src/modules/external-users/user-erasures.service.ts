import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Interval } from '@nestjs/schedule';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Sealer } from '../../infrastructure/crypto/index.js';
import {
  DailyPartitions,
  KeyedQueue,
  RecurringJob,
  Transaction,
  Transactional,
} from '../../infrastructure/database/index.js';
import {
  userDataHolders,
  UserPseudonyms,
  type ErasedUser,
  type UserDataHolder,
} from '../../infrastructure/erasure/index.js';
import type { RequestAttribution } from '../../infrastructure/http/index.js';
import { Clock, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { AuditLog, type AuditActor } from '../audit-logs/index.js';
import { UserErasure } from './user-erasure.entity.js';
import { ERASURE_NOT_FOUND, toErasureResponse, type UserErasureResponse } from './user-erasures.dto.js';
import { UserErasuresRepository, type ClaimedErasure } from './user-erasures.repository.js';

/**
 * Milliseconds after the request until what was in progress at that time has ended: attempts to deliver webhooks, and entries of the
 * request log that wait for the database. Then, everything is searched again.
 */
const SETTLING_TIME = MINUTE;
/** Milliseconds without progress after which another process continues. A batch takes far less. */
const LEASE = 30 * SECOND;
/** What ends before the request is answered. Nobody has more tokens than that, except by mistake. */
const BATCHES_BEFORE_RESPONSE = 20;

type ErasingClient = Pick<AuthenticatedClient, 'clientId' | 'organizationId' | 'environment'>;

/**
 * Erases users: everything that any module stores about them, batch by batch, one user at a time in each process. Repeating any
 * part of the work is harmless.
 */
@Injectable()
export class UserErasuresService extends RecurringJob {
  /** By organization, because the audit log appends the entries of an organization one after another. */
  private readonly requests = new KeyedQueue(1);

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: UserErasuresRepository,
    private readonly discovery: DiscoveryService,
    private readonly pseudonyms: UserPseudonyms,
    private readonly partitions: DailyPartitions,
    private readonly auditLog: AuditLog,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {
    super('Erasures', 'A user could not be erased; the erasure is repeated');
  }

  /**
   * Stores the erasure, which `run()` continues, and ends everything with which others act for the user.
   *
   * @param attribution of a request whose body names the user, who must not get into the request log
   */
  async request(
    client: ErasingClient,
    externalUserId: string,
    actor: Omit<AuditActor, 'organizationId'>,
    attribution: RequestAttribution = {},
  ): Promise<UserErasureResponse> {
    attribution.externalUserId = null;
    const { clientId, environment, organizationId } = client;
    const pseudonym = this.pseudonyms.of({ clientId, externalUserId });
    const user = { clientId, environment, externalUserId, pseudonym };
    const id = await this.requests.run(organizationId, () => this.store(user, { ...actor, organizationId }));
    for (const holder of userDataHolders(this.discovery, 'access')) {
      let batches = 0;
      while ((await this.eraseBatch(id, user, holder)) > 0 && (batches += 1) < BATCHES_BEFORE_RESPONSE);
    }
    return this.get(client, externalUserId);
  }

  /** @throws ApiError ERASURE_NOT_FOUND */
  async get(client: Pick<ErasingClient, 'clientId'>, externalUserId: string): Promise<UserErasureResponse> {
    return ERASURE_NOT_FOUND.unlessFound(await this.find(client, externalUserId));
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

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      while (!this.stopped.aborted && (await this.runNext()));
    });
  }

  /**
   * Works on the next erasure that is due, until it is finished, has to wait for what is in progress, or the process stops. Another
   * process continues if this one is killed.
   *
   * @returns whether there was one
   */
  private async runNext(): Promise<boolean> {
    const now = this.clock.now();
    const erasure = await this.repository.claim(now, this.endOfLease());
    if (!erasure) return false;
    const user = this.userOf(erasure);
    for (const holder of userDataHolders(this.discovery)) {
      while (!this.stopped.aborted && (await this.eraseBatch(erasure.id, user, holder, true)) > 0);
    }
    if (this.stopped.aborted) await this.repository.postpone(erasure.id, now);
    else await this.finish(erasure, user, now);
    return true;
  }

  /** @param startedAt when the search for the user's data started that found the rest of them */
  private async finish(
    erasure: ClaimedErasure,
    { externalUserId }: ErasedUser,
    startedAt: Date,
  ): Promise<void> {
    const settledAt = new Date(erasure.requestedAt.getTime() + SETTLING_TIME);
    if (startedAt < settledAt) return this.repository.postpone(erasure.id, settledAt);
    if (await this.partitions.isMovingRows())
      return this.repository.postpone(erasure.id, new Date(startedAt.getTime() + MINUTE));
    await this.repository.forgetStatistics(externalUserId);
    const { id, requestedAt } = erasure;
    const finished = { finishedAt: this.clock.now(), externalUserIdSealed: null };
    // Unless the erasure was requested again since.
    if (!(await this.transaction.updateRow(UserErasure, { id, requestedAt }, finished)))
      await this.repository.postpone(id, startedAt);
  }

  @Transactional()
  protected async eraseBatch(
    id: string,
    user: ErasedUser,
    holder: UserDataHolder,
    hasLease = false,
  ): Promise<number> {
    const erased = await holder.eraseBatch(user);
    if (erased > 0) await this.repository.progress(id, erased, hasLease ? this.endOfLease() : undefined);
    return erased;
  }

  private userOf({ clientId, environment, pseudonym, externalUserIdSealed }: ClaimedErasure): ErasedUser {
    const externalUserId = this.sealer.open(externalUserIdSealed, ownerOfIdentifier(clientId, pseudonym));
    return { clientId, environment, pseudonym, externalUserId };
  }

  private endOfLease(): Date {
    return new Date(this.clock.milliseconds() + LEASE);
  }
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted identifier is bound to. */
function ownerOfIdentifier(clientId: string, pseudonym: string): string[] {
  return ['user_erasure', clientId, pseudonym];
}
