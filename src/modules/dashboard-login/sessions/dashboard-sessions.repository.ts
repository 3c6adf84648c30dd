import { Injectable } from '@nestjs/common';
import { MoreThan, Not } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { DashboardSession, type SessionStage } from './dashboard-session.entity.js';

@Injectable()
export class DashboardSessionsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(session: DashboardSession): Promise<void> {
    await this.transaction.manager.insert(DashboardSession, session);
  }

  async find(tokenHash: Buffer, stage: SessionStage, now: Date): Promise<DashboardSession | null> {
    return this.transaction.manager.findOneBy(DashboardSession, {
      tokenHash,
      stage,
      expiresAt: MoreThan(now),
    });
  }

  /** Returns the newest session first. */
  async list(userId: string, now: Date): Promise<DashboardSession[]> {
    return this.transaction.manager.find(DashboardSession, {
      where: { userId, stage: 'complete', expiresAt: MoreThan(now) },
      order: { authenticatedAt: 'DESC', id: 'ASC' },
    });
  }

  /** @returns whether there was such a session; true for only one of several concurrent calls */
  async end(session: Partial<Pick<DashboardSession, 'tokenHash' | 'userId' | 'id'>>): Promise<boolean> {
    const { affected } = await this.transaction.manager.delete(DashboardSession, session);
    return affected === 1;
  }

  /** @param exceptId the session that stays, if any */
  async endAll(userId: string, exceptId?: string): Promise<void> {
    const ended = exceptId === undefined ? { userId } : { userId, id: Not(exceptId) };
    await this.transaction.manager.delete(DashboardSession, ended);
  }
}
