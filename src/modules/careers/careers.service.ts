import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import type { ApplicationReceipt, SubmitApplicationRequest } from './careers.dto.js';
import { JobApplication } from './job-application.entity.js';

const EXPORT_PAGE_SIZE = 500;

/** Receives job applications. Recruiters read them on the command line. */
@Injectable()
export class CareersService {
  constructor(
    private readonly transaction: Transaction,
    private readonly clock: Clock,
  ) {}

  async submit(request: SubmitApplicationRequest): Promise<ApplicationReceipt> {
    const id = randomUUID();
    const receivedAt = this.clock.now();
    await this.transaction.manager.insert(JobApplication, {
      id,
      receivedAt,
      role: request.role,
      fullName: request.full_name,
      email: request.email,
      resumeUrl: request.resume_url,
      yearsExperience: request.years_experience,
      authorizedToWork: request.authorized_to_work,
      onsiteNyc: request.onsite_nyc,
      phoneNumber: request.phone_number ?? null,
      githubUrl: request.github_url ?? null,
      linkedinUrl: request.linkedin_url ?? null,
      twitterUrl: request.twitter_url ?? null,
      website: request.website ?? null,
      strength: request.exceptional_at,
    });
    return { id, received_at: receivedAt };
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
