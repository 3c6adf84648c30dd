import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option, SubCommand } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { CareersService, type JobApplication } from '../../modules/careers/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { exportRows, printResult } from './output.js';
import { parseNumber } from './options.js';

const DEFAULT_LIST = 20;

@SubCommand({ name: 'list', description: 'List the newest job applications' })
class ListApplicationsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: { limit?: number }): Promise<void> {
    const limit = options.limit ?? DEFAULT_LIST;
    if (!Number.isInteger(limit) || limit < 1)
      throw new OperatorError('The limit must be a positive integer.');
    printResult((await app.get(CareersService).newest(limit)).map(toRow));
  }

  @Option({ flags: '--limit <number>', description: `number of applications (default: ${DEFAULT_LIST})` })
  limit(value: string): number {
    return parseNumber(value);
  }
}

@SubCommand({ name: 'export', description: 'Write all job applications to standard output' })
class ExportApplicationsCommand extends OperatorCommand {
  protected execute(app: INestApplicationContext, options: { format: string }): Promise<void> {
    return exportRows(options.format, COLUMNS, toRows(app.get(CareersService).all()));
  }

  @Option({ flags: '--format <format>', description: 'csv or ndjson', required: true })
  format(value: string): string {
    return value;
  }
}

@Command({
  name: 'application',
  description: 'Job applications, which are personal data',
  subCommands: [ListApplicationsCommand, ExportApplicationsCommand],
})
export class ApplicationCommand extends CommandGroup {}

const COLUMNS = [
  'id',
  'received_at',
  'role',
  'full_name',
  'email',
  'resume_url',
  'years_experience',
  'authorized_to_work',
  'onsite_nyc',
  'phone_number',
  'github_url',
  'linkedin_url',
  'twitter_url',
  'website',
  'exceptional_at',
];

/** Names the fields as in the API. */
function toRow(application: JobApplication): Record<string, unknown> {
  return {
    id: application.id,
    received_at: application.receivedAt,
    role: application.role,
    full_name: application.fullName,
    email: application.email,
    resume_url: application.resumeUrl,
    years_experience: application.yearsExperience,
    authorized_to_work: application.authorizedToWork,
    onsite_nyc: application.onsiteNyc,
    phone_number: application.phoneNumber,
    github_url: application.githubUrl,
    linkedin_url: application.linkedinUrl,
    twitter_url: application.twitterUrl,
    website: application.website,
    exceptional_at: application.exceptionalAt,
  };
}

async function* toRows(applications: AsyncIterable<JobApplication>): AsyncGenerator<Record<string, unknown>> {
  for await (const application of applications) yield toRow(application);
}
