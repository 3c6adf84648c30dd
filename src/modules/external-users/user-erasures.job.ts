import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Interval } from '@nestjs/schedule';
import {
  DailyPartitions,
  RecurringJob,
  Transaction,
  Transactional,
} from '../../infrastructure/database/index.js';
import { userDataHolders, type ErasedUser } from '../../infrastructure/erasure/index.js';
import { Clock, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { UserErasure } from './user-erasure.entity.js';
import {
  UserErasuresRepository,
  type ClaimedErasure,
  type ColumnWithStatistics,
} from './user-erasures.repository.js';
import { UserErasuresService } from './user-erasures.service.js';

/**
 * Milliseconds after the request until what was in progress at that time has ended: attempts to deliver webhooks, and entries of the
 * request log that wait for the database. Then, everything is searched again.
 */
const SETTLING_TIME = MINUTE;
/** Milliseconds after which another process continues, unless this one renews the lease. */
const LEASE = 30 * SECOND;
/** Milliseconds after which the erasure of another client continues, if one is due. */
const TURN = 5 * SECOND;

/**
 * Erases users: everything that any module stores about them, batch by batch, one user at a time in each process. Clients take
 * turns, however many erasures they have requested. Repeating any part of the work is harmless.
 */
@Injectable()
export class UserErasuresJob extends RecurringJob {
  private readonly lease = LEASE;

  constructor(
    private readonly transaction: Transaction,
    private readonly repository: UserErasuresRepository,
    private readonly erasures: UserErasuresService,
    private readonly discovery: DiscoveryService,
    private readonly partitions: DailyPartitions,
    private readonly clock: Clock,
  ) {
    super('Erasures', 'A user could not be erased; the erasure is repeated');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      while (!this.stopped.aborted && (await this.runNext()));
    });
  }

  /**
   * Works on the next erasure until it is finished, has to wait for what is in progress, its turn ends, or the process stops. Another
   * process continues if this one is killed.
   *
   * @returns whether there was one
   */
  private async runNext(): Promise<boolean> {
    const now = this.clock.now();
    const erasure = await this.repository.claim(now, this.endOfLease());
    if (!erasure) return false;
    const end = performance.now() + TURN;
    const isOver = (): boolean => this.stopped.aborted || performance.now() > end;
    const user = this.erasures.userOf(erasure);
    const waitsUntil = await this.keeping(erasure, async () =>
      (await this.eraseAll(erasure, user, isOver)) ? this.finish(erasure, user, now, isOver) : now,
    );
    if (waitsUntil) await this.repository.postpone(erasure.id, waitsUntil);
    return true;
  }

  /**
   * Keeps the erasure from other processes meanwhile: a search of a long log, or an ANALYZE of a large table, takes longer than a
   * lease.
   */
  private async keeping<Result>({ id }: ClaimedErasure, work: () => Promise<Result>): Promise<Result> {
    const renewal = setInterval(() => {
      // If it fails, another process continues, which is harmless.
      this.repository.postpone(id, this.endOfLease()).catch(() => undefined);
    }, this.lease / 3);
    try {
      return await work();
    } finally {
      clearInterval(renewal);
    }
  }

  /** @returns false if rows may be left, because the turn is over */
  private async eraseAll({ id }: ClaimedErasure, user: ErasedUser, isOver: () => boolean): Promise<boolean> {
    for (const holder of userDataHolders(this.discovery))
      while ((await this.erasures.eraseBatch(id, user, holder)) > 0) if (isOver()) return false;
    return true;
  }

  /**
   * @param startedAt when the search for the user's data started that found the rest of them
   * @returns when to continue; undefined if the erasure is finished
   */
  private async finish(
    erasure: ClaimedErasure,
    user: ErasedUser,
    startedAt: Date,
    isOver: () => boolean,
  ): Promise<Date | undefined> {
    const { id, requestedAt } = erasure;
    const settledAt = new Date(requestedAt.getTime() + SETTLING_TIME);
    // At most this much later by the clock of this process: a time that is much further away would count as past.
    if (startedAt < settledAt)
      return new Date(Math.min(settledAt.getTime(), startedAt.getTime() + SETTLING_TIME));
    if (await this.partitions.isMovingRows()) return new Date(startedAt.getTime() + MINUTE);
    for (
      let column: ColumnWithStatistics | undefined;
      (column = await this.repository.columnWithStatisticsOf(id, user.externalUserId));
    ) {
      if (!(await this.renewStatistics(id, user, column)))
        return new Date(this.clock.milliseconds() + SECOND);
      if (isOver()) return startedAt;
    }
    const finished = { finishedAt: this.clock.now(), externalUserIdSealed: null, renewedColumns: [] };
    // This does nothing if the erasure was requested again since.
    const isFinished = await this.transaction.updateRow(UserErasure, { id, requestedAt }, finished);
    return isFinished ? undefined : startedAt;
  }

  @Transactional()
  protected renewStatistics(id: string, user: ErasedUser, column: ColumnWithStatistics): Promise<boolean> {
    return this.repository.renewStatistics(id, user, column);
  }

  private endOfLease(): Date {
    return new Date(this.clock.milliseconds() + this.lease);
  }
}
