import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { CurrentLogins } from '../../audit-logs/index.js';
import { DashboardSession } from './dashboard-session.entity.js';

/** Knows which sessions have been ended. Apart from `DashboardSessionsService`, which writes the audit log. */
@Injectable()
export class CurrentSessions extends CurrentLogins {
  constructor(private readonly transaction: Transaction) {
    super();
  }

  override hasSession(id: string): Promise<boolean> {
    return this.transaction.manager.existsBy(DashboardSession, { id });
  }
}
