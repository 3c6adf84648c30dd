import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { Command, CommandRunner, Option, SubCommand } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { CareersService, type JobApplication } from '../../modules/careers/index.js';
import { answer, OperatorSession } from '../operator-session.js';
import { numberFrom } from './number.js';

const DEFAULT_LIST = 20;

@SubCommand({ name: 'list', description: 'List the newest job applications' })
export class ListApplicationsCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(_arguments: string[], options: { limit?: number }): Promise<void> {
    return this.session.run(async (app) => {
      const limit = options.limit ?? DEFAULT_LIST;
      if (!Number.isInteger(limit) || limit < 1)
        throw new OperatorError('The limit must be a positive integer.');
      answer((await app.get(CareersService).newest(limit)).map(exported));
    });
  }

  @Option({ flags: '--limit <number>', description: `how many: ${DEFAULT_LIST} when left out` })
  limit(value: string): number {
    return numberFrom(value);
  }
}

@SubCommand({ name: 'export', description: 'Write all job applications to standard output' })
export class ExportApplicationsCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(_arguments: string[], options: { format: string }): Promise<void> {
    return this.session.run(async (app) => {
      const rows = Readable.from(mapped(app.get(CareersService).all()));
      if (options.format === 'csv') {
        // Formulas are escaped: a spreadsheet must not run what an applicant typed.
        await untilReaderLeaves(
          pipeline(rows, stringify({ ...CSV, columns: COLUMNS }), process.stdout, KEEP_OPEN),
        );
      } else if (options.format === 'ndjson') {
        await untilReaderLeaves(pipeline(rows, toLines, process.stdout, KEEP_OPEN));
      } else {
        throw new OperatorError('The format must be csv or ndjson.');
      }
    });
  }

  @Option({ flags: '--format <format>', description: 'csv or ndjson', required: true })
  format(value: string): string {
    return value;
  }
}

@Command({
  name: 'application',
  description: 'Job applications: personal data, handle with care',
  subCommands: [ListApplicationsCommand, ExportApplicationsCommand],
})
export class ApplicationCommand extends CommandRunner {
  override async run(): Promise<void> {
    this.command.help();
  }
}

const KEEP_OPEN = { end: false };
const CSV = {
  header: true,
  escape_formulas: true,
  cast: { boolean: String, date: (value: Date): string => value.toISOString() },
};
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

/** In the words of the API. */
function exported(application: JobApplication): Record<string, unknown> {
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

/** `| head` closes the pipe when it has enough: that is the end, not a failure. */
async function untilReaderLeaves(writing: Promise<void>): Promise<void> {
  await writing.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

async function* mapped(applications: AsyncIterable<JobApplication>): AsyncGenerator<Record<string, unknown>> {
  for await (const application of applications) yield exported(application);
}

async function* toLines(rows: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}
