import type { INestApplicationContext } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { CareersService, type JobApplication } from '../../modules/careers/index.js';
import { CommandGroup } from './command-group.js';
import { OperatorCommand } from './operator-command.js';
import { printResult } from './output.js';
import { exportRows } from './rows.js';
import { FORMAT, Options, parseNumber } from './options.js';
import { COMMANDS } from './commands.js';

const DEFAULT_LIST = 20;

@SubCommand({ name: 'list', description: 'List the newest job applications' })
@Options({
  limit: {
    flags: '--limit <number>',
    description: `number of applications (default: ${DEFAULT_LIST})`,
    parse: parseNumber,
  },
})
class ListApplicationsCommand extends OperatorCommand {
  protected async execute(app: INestApplicationContext, options: { limit?: number }): Promise<void> {
    const limit = options.limit ?? DEFAULT_LIST;
    if (!Number.isInteger(limit) || limit < 1)
      throw new OperatorError('The limit must be a positive integer.');
    printResult((await app.get(CareersService).newest(limit)).map(toRow));
  }
}

@SubCommand({ name: 'export', description: 'Write all job applications to standard output' })
@Options({ format: FORMAT })
class ExportApplicationsCommand extends OperatorCommand {
  protected execute(app: INestApplicationContext, options: { format: string }): Promise<void> {
    return exportRows(options.format, Object.keys(FIELDS), toRows(app.get(CareersService).all()));
  }
}

@Command({ ...COMMANDS.application, subCommands: [ListApplicationsCommand, ExportApplicationsCommand] })
export class ApplicationCommand extends CommandGroup {}

/** The columns, named as in the API, and the fields that they show. */
const FIELDS = {
  id: 'id',
  received_at: 'receivedAt',
  role: 'role',
  full_name: 'fullName',
  email: 'email',
  resume_url: 'resumeUrl',
  years_experience: 'yearsExperience',
  authorized_to_work: 'authorizedToWork',
  onsite_nyc: 'onsiteNyc',
  phone_number: 'phoneNumber',
  github_url: 'githubUrl',
  linkedin_url: 'linkedinUrl',
  twitter_url: 'twitterUrl',
  website: 'website',
  exceptional_at: 'exceptionalAt',
} satisfies Record<string, keyof JobApplication>;

function toRow(application: JobApplication): Record<string, unknown> {
  return Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, application[field]]));
}

async function* toRows(applications: AsyncIterable<JobApplication>): AsyncGenerator<Record<string, unknown>> {
  for await (const application of applications) yield toRow(application);
}
