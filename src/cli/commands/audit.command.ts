import { readFile } from 'node:fs/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { maskedUrl } from '../../infrastructure/logging/index.js';
import {
  AUDIT_LOG_COLUMNS,
  AuditLogsService,
  AuditVerification,
  parseHead,
  PLATFORM,
  type ChainReport,
  type ExportedHead,
} from '../../modules/audit-logs/index.js';
import { AuditStreamsService, stateOf } from '../../modules/audit-streams/index.js';
import { OrganizationsService } from '../../modules/organizations/index.js';
import { commandGroup } from '../operator-command.js';
import { EXIT, printResult, printSentence } from '../output.js';
import { exportRows, withAuditEntry, withProgress } from './rows.js';
import { FORMAT, ORGANIZATION, readPeriod, type PeriodOptions } from './options.js';

interface ExportOptions extends PeriodOptions {
  readonly organization: string;
  readonly format: string;
}

export const AUDIT_COMMAND = commandGroup('audit');

AUDIT_COMMAND.command('verify')
  .description(
    'Verify the hash chains of the audit log; exits with code 1 and names the first broken entry of each chain ' +
      'if there is one',
  )
  .option('--organization <id>', 'verify only the chain of this organization')
  .option(
    '--head <file>',
    'file written by `audit head` earlier; verify that the chain of its organization still contains that head',
  )
  .onApplication<{ organization?: string; head?: string }>(async (app, options) => {
    const head = options.head === undefined ? undefined : await readHead(options.head);
    const verification = app.get(AuditVerification);
    const reports: ChainReport[] = [];
    for (const organizationId of await organizationsToVerify(app, options.organization, head))
      reports.push(await verification.verify(organizationId, head));
    printResult({ intact: reports.every(({ flaw }) => !flaw), organizations: reports.map(toReport) });
    for (const { organizationId, flaw } of reports) {
      if (!flaw) continue;
      printSentence(`Organization ${organizationId}: ${flaw.explanation}`);
      process.exitCode = EXIT.failed;
    }
  });

AUDIT_COMMAND.command('head')
  .description('Show the head of an organization’s chain, for you to sign and to keep outside the database')
  .addOption(ORGANIZATION)
  .onApplication<{ organization: string }>(async (app, { organization }) => {
    await requireChain(app, organization);
    return app.get(AuditVerification).head(organization);
  });

AUDIT_COMMAND.command('export')
  .description('Write the audit log of an organization to standard output, oldest first')
  .addOption(ORGANIZATION)
  .addOption(FORMAT)
  .option('--start <time>', 'only entries at or after this time, such as 2026-01-31T08:15:30Z')
  .option('--end <time>', 'only entries at or before this time')
  .onApplication<ExportOptions>(async (app, { organization, format, ...bounds }) => {
    await requireChain(app, organization);
    const entries = app.get(AuditLogsService).all(organization, readPeriod(bounds));
    const change = { organizationId: organization, action: 'audit_log.export', target: {} } as const;
    await exportRows(format, AUDIT_LOG_COLUMNS, withProgress(withAuditEntry(app, change, entries)));
  });

AUDIT_COMMAND.command('streams')
  .description(
    'List the audit streams of all organizations, those that fail first; masks secrets in their URLs',
  )
  .onApplication(async (app) =>
    (await app.get(AuditStreamsService).all()).map((stream) => ({
      organization_id: stream.organizationId,
      url: maskedUrl(stream.url),
      state: stateOf(stream),
      problem: stream.problem,
      rejected_entries: Number(stream.rejectedEntries),
      rejection: stream.rejection,
      failing_since: stream.failingSince,
      paused_at: stream.pausedAt,
      last_confirmed_entry: Number(stream.position),
    })),
  );

/** @throws OperatorError if there is no such organization. The platform has a chain, too. */
async function requireChain(app: INestApplicationContext, organization: string): Promise<void> {
  if (organization !== PLATFORM) await app.get(OrganizationsService).requireForOperator(organization);
}

async function organizationsToVerify(
  app: INestApplicationContext,
  organization: string | undefined,
  head: ExportedHead | undefined,
): Promise<string[]> {
  const id = organization ?? head?.organization_id;
  if (id === undefined) return app.get(AuditVerification).organizationIds();
  await requireChain(app, id);
  if (head && head.organization_id !== id)
    throw new OperatorError(`The head belongs to the organization ${head.organization_id}.`);
  return [id];
}

async function readHead(file: string): Promise<ExportedHead> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new OperatorError(`The file ${file} cannot be read.`);
  });
  return parseHead(text);
}

function toReport({ organizationId, entries, flaw }: ChainReport): Record<string, unknown> {
  return { organization_id: organizationId, entries, intact: !flaw, first_broken: flaw ?? null };
}
