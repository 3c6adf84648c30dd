import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../infrastructure/time/index.js';
import type { ApplicationReceipt, SubmitApplicationRequest } from './careers.dto.js';
import { JobApplicationsRepository } from './job-applications.repository.js';

/** Receives job applications. Recruiters read them with `JobApplicationsRepository`, on the command line. */
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
      strength: request.exceptional_at,
    });
    return { id, received_at: receivedAt };
  }
}
