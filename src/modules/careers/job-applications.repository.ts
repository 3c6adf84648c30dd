import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { JobApplication } from './job-application.entity.js';

@Injectable()
export class JobApplicationsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(application: JobApplication): Promise<void> {
    await this.transaction.manager.insert(JobApplication, application);
  }

  /** Returns a page in the order of IDs, starting after the given ID. */
  async page(afterId: string | undefined, size: number): Promise<JobApplication[]> {
    return this.transaction.manager.find(JobApplication, {
      where: afterId === undefined ? {} : { id: MoreThan(afterId) },
      order: { id: 'ASC' },
      take: size,
    });
  }

  async newest(size: number): Promise<JobApplication[]> {
    return this.transaction.manager.find(JobApplication, {
      order: { receivedAt: 'DESC', id: 'DESC' },
      take: size,
    });
  }
}
