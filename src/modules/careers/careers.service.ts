import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../infrastructure/time/index.js';
import type { ApplicationReceipt, SubmitApplicationRequest } from './careers.dto.js';
import type { JobApplication } from './job-application.entity.js';
import { JobApplicationsRepository } from './job-applications.repository.js';

const EXPORT_PAGE_SIZE = 500;

/** Job applications. */
@Injectable()
export class CareersService {
  constructor(
    private readonly repository: JobApplicationsRepository,
    private readonly clock: Clock,
  ) {}

  async submit(request: SubmitApplicationRequest): Promise<ApplicationReceipt> {
    const id = randomUUID();
    const receivedAt = this.clock.now();
    await this.repository.add({
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
      exceptionalAt: request.exceptional_at,
    });
    return { id, received_at: receivedAt };
  }

  async newest(size: number): Promise<JobApplication[]> {
    return this.repository.newest(size);
  }

  /** Returns all applications, reading them in pages, so that an export of any size needs little memory. */
  async *all(): AsyncGenerator<JobApplication> {
    let page = await this.repository.page(undefined, EXPORT_PAGE_SIZE);
    while (page.length > 0) {
      yield* page;
      page = await this.repository.page(page.at(-1)?.id, EXPORT_PAGE_SIZE);
    }
  }
}
