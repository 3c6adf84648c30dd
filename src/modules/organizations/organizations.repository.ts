import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { Organization } from './organization.entity.js';

@Injectable()
export class OrganizationsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(organization: Organization): Promise<void> {
    await this.transaction.manager.insert(Organization, organization);
  }

  /** Locks the table against rivals until the transaction ends, then tells whether it is empty. */
  async lockIfEmpty(): Promise<boolean> {
    const { manager } = this.transaction;
    await manager.query('LOCK TABLE organization IN SHARE ROW EXCLUSIVE MODE');
    return (await manager.count(Organization)) === 0;
  }

  async exists(id: string): Promise<boolean> {
    return this.transaction.manager.existsBy(Organization, { id });
  }
}
