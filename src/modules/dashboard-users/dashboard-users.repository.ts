import { Injectable } from '@nestjs/common';
import { Transaction, violatesUnique } from '../../infrastructure/database/index.js';
import { DashboardUser } from './dashboard-user.entity.js';

@Injectable()
export class DashboardUsersRepository {
  constructor(private readonly transaction: Transaction) {}

  /** @returns whether it was added; an e-mail address has one user */
  async add(user: DashboardUser): Promise<boolean> {
    try {
      await this.transaction.manager.insert(DashboardUser, user);
      return true;
    } catch (error) {
      if (violatesUnique(error, 'dashboard_user_email_key')) return false;
      throw error;
    }
  }
}
