import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { JobApplication } from './job-application.entity.js';

const EXPORT_PAGE_SIZE = 500;

/** Stores job applications, and reads them for recruiters. */
@Injectable()
export class JobApplicationsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(application: JobApplication): Promise<void> {
    await this.transaction.manager.insert(JobApplication, application);
  }

  /** Returns all applications, reading them in pages, so that an export of any size needs little memory. */
  async *all(): AsyncGenerator<JobApplication> {
    let page: JobApplication[] = [];
    do {
      const last = page.at(-1);
      page = await this.transaction.manager.find(JobApplication, {
        where: last ? { id: MoreThan(last.id) } : {},
        order: { id: 'ASC' },
        take: EXPORT_PAGE_SIZE,
      });
      yield* page;
    } while (page.length === EXPORT_PAGE_SIZE);
  }

  async newest(size: number): Promise<JobApplication[]> {
    return this.transaction.manager.find(JobApplication, {
      order: { receivedAt: 'DESC', id: 'DESC' },
      take: size,
    });
  }
}
