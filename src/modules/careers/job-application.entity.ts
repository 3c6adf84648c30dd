import { Column, Entity } from 'typeorm';
import { DeleteAfter, StoredRow } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';
import { MAX_URL_LENGTH } from '../../infrastructure/validation/index.js';
import { CareersConfiguration } from './careers.configuration.js';

export const JOB_ROLES = [
  'product_engineer',
  'ios_engineer',
  'android_engineer',
  'infrastructure_engineer',
  'senior_product_manager',
] as const;
export type JobRole = (typeof JOB_ROLES)[number];

export const MAX_NAME_LENGTH = 256;

/** A job application. It contains personal data: only recruiters can read it, on the command line. */
@Entity({ name: 'job_application' })
export class JobApplication extends StoredRow {
  @DeleteAfter((configuration) => configuration.get(CareersConfiguration).retentionDays * DAY)
  @Column({ name: 'received_at', type: 'timestamptz', precision: 3 })
  receivedAt!: Date;

  @Column({ type: 'varchar', length: 32 })
  role!: JobRole;

  @Column({ name: 'full_name', type: 'varchar', length: MAX_NAME_LENGTH })
  fullName!: string;

  @Column({ type: 'varchar', length: 254 })
  email!: string;

  @Column({ name: 'resume_url', type: 'varchar', length: MAX_URL_LENGTH })
  resumeUrl!: string;

  @Column({ name: 'years_experience', type: 'integer' })
  yearsExperience!: number;

  @Column({ name: 'authorized_to_work', type: 'boolean' })
  authorizedToWork!: boolean;

  @Column({ name: 'onsite_nyc', type: 'boolean' })
  onsiteNyc!: boolean;

  @Column({ name: 'phone_number', type: 'varchar', length: 16, nullable: true })
  phoneNumber!: string | null;

  @Column({ name: 'github_url', type: 'varchar', length: MAX_URL_LENGTH, nullable: true })
  githubUrl!: string | null;

  @Column({ name: 'linkedin_url', type: 'varchar', length: MAX_URL_LENGTH, nullable: true })
  linkedinUrl!: string | null;

  @Column({ name: 'twitter_url', type: 'varchar', length: MAX_URL_LENGTH, nullable: true })
  twitterUrl!: string | null;

  @Column({ type: 'varchar', length: MAX_URL_LENGTH, nullable: true })
  website!: string | null;

  /** The one thing that the applicant is exceptional at. */
  @Column({ name: 'exceptional_at', type: 'text' })
  strength!: string;
}
