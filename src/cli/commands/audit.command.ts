import { readFile } from 'node:fs/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { Command, CommandRunner, Option, SubCommand } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import {
  AuditLogsService,
  AuditVerification,
  parseHead,
  type ChainReport,
  type ExportedHead,
} from '../../modules/audit-logs/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { answer, EXIT, OperatorSession } from '../operator-session.js';
import { counted, exportRows } from './exported-rows.js';
import { requirePeriod } from './period.js';

interface ExportOptions {
  readonly organization: string;
  readonly format: string;
  readonly start?: string;
  readonly end?: string;
}

@SubCommand({
  name: 'verify',
  description:
    'Compute the chains of entries anew and name the first entry of each that is not what was recorded ' +
    '(exit code 1)',
})
export class VerifyAuditLogCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(_arguments: string[], options: { organization?: string; head?: string }): Promise<void> {
    return this.session.run(async (app) => {
      const kept = options.head === undefined ? undefined : await readHead(options.head);
      const verification = app.get(AuditVerification);
      const reports: ChainReport[] = [];
      for (const organizationId of await chosen(app, options.organization, kept))
        reports.push(await verification.verify(organizationId, kept));
      answer({ intact: reports.every(({ flaw }) => !flaw), organizations: reports.map(reported) });
      for (const { organizationId, flaw } of reports) {
        if (!flaw) continue;
        process.stderr.write(`Organization ${organizationId}: ${flaw.explanation}\n`);
        process.exitCode = EXIT.failed;
      }
    });
  }

  @Option({ flags: '--organization <id>', description: 'only the chain of this organization' })
  organization(value: string): string {
    return value;
  }

  @Option({
    flags: '--head <file>',
    description: 'a head that `audit head` wrote before: its organization’s chain must still hold it',
  })
  head(value: string): string {
    return value;
  }
}

@SubCommand({
  name: 'head',
  description: 'Show the end of an organization’s chain, to be signed and kept where no database is',
})
export class ShowAuditHeadCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(_arguments: string[], { organization }: { organization: string }): Promise<void> {
    return this.session.run(async (app) => {
      await app.get(OrganizationsService).require(organization);
      answer(await app.get(AuditVerification).head(organization));
    });
  }

  @Option({ flags: '--organization <id>', description: 'the organization', required: true })
  organization(value: string): string {
    return value;
  }
}

@SubCommand({
  name: 'export',
  description: 'Write the audit log of an organization to standard output, oldest first',
})
export class ExportAuditLogCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(_arguments: string[], { organization, format, ...bounds }: ExportOptions): Promise<void> {
    return this.session.run(async (app) => {
      await app.get(OrganizationsService).require(organization);
      requirePeriod(bounds);
      const entries = app.get(AuditLogsService).all(organization, bounds);
      await exportRows(format, COLUMNS, counted(entries));
    });
  }

  @Option({ flags: '--organization <id>', description: 'the organization', required: true })
  organization(value: string): string {
    return value;
  }

  @Option({ flags: '--format <format>', description: 'csv or ndjson', required: true })
  format(value: string): string {
    return value;
  }

  @Option({
    flags: '--start <time>',
    description: 'only entries of this time or later, as 2026-01-31T08:15:30Z',
  })
  start(value: string): string {
    return value;
  }

  @Option({ flags: '--end <time>', description: 'only entries of this time or earlier' })
  end(value: string): string {
    return value;
  }
}

@Command({
  name: 'audit',
  description: 'The audit log: who did what in the dashboard',
  subCommands: [VerifyAuditLogCommand, ShowAuditHeadCommand, ExportAuditLogCommand],
})
export class AuditCommand extends CommandRunner {
  override async run(): Promise<void> {
    this.command.help();
  }
}

/** An entry as the API shows it, laid out flat. */
const COLUMNS = [
  'id',
  'datetime',
  'event.action',
  'event.outcome.status',
  'actor.name',
  'actor.email',
  'target.type',
  'target.name',
  'target.environment',
  'context.ip',
  'context.user_agent',
];

async function chosen(
  app: INestApplicationContext,
  organization: string | undefined,
  kept: ExportedHead | undefined,
): Promise<string[]> {
  const one = organization ?? kept?.organization_id;
  if (one === undefined) return app.get(AuditVerification).organizationIds();
  await app.get(OrganizationsService).require(one);
  if (kept && kept.organization_id !== one)
    throw new OperatorError(`The head is that of the organization ${kept.organization_id}.`);
  return [one];
}

async function readHead(file: string): Promise<ExportedHead> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new OperatorError(`The file ${file} cannot be read.`);
  });
  return parseHead(text);
}

function reported({ organizationId, entries, flaw }: ChainReport): Record<string, unknown> {
  return { organization_id: organizationId, entries, intact: !flaw, first_broken: flaw ?? null };
}
