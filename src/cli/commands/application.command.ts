import { OperatorError } from '../../infrastructure/errors/index.js';
import { CareersService, type JobApplication } from '../../modules/careers/index.js';
import { commandGroup, parseNumber } from '../operator-command.js';
import { FORMAT } from './options.js';
import { exportRows } from './rows.js';

export const APPLICATION_COMMAND = commandGroup('application');

APPLICATION_COMMAND.command('list')
  .description('List the newest job applications')
  .option('--limit <number>', 'number of applications', parseNumber, 20)
  .onApplication<{ limit: number }>(async (app, { limit }) => {
    if (!Number.isInteger(limit) || limit < 1)
      throw new OperatorError('The limit must be a positive integer.');
    return (await app.get(CareersService).newest(limit)).map(toRow);
  });

APPLICATION_COMMAND.command('export')
  .description('Write all job applications to standard output')
  .addOption(FORMAT)
  .onApplication<{ format: string }>((app, { format }) =>
    exportRows(format, Object.keys(FIELDS), toRows(app.get(CareersService).all())),
  );

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
  exceptional_at: 'strength',
} satisfies Record<string, keyof JobApplication>;

function toRow(application: JobApplication): Record<string, unknown> {
  return Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, application[field]]));
}

async function* toRows(applications: AsyncIterable<JobApplication>): AsyncGenerator<Record<string, unknown>> {
  for await (const application of applications) yield toRow(application);
}
