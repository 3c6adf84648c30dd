import type { Command } from 'commander';
import type { AuditLogEntryResponse } from '@merchant-connectivity/sdk';
import { timeOf } from '../output.js';
import {
  action,
  countOf,
  first,
  timeOption,
  withListOptions,
  type ListOptions,
  type Session,
} from '../program.js';

export function addAudit(program: Command): void {
  const audit = program.command('audit').description('the audit log (production credentials)');
  withListOptions(audit.command('list', { isDefault: true }))
    .description('list what the users of your organization did in the dashboard, newest first')
    .option('--start <time>', 'from this time on, such as 2026-01-31T08:00:00Z, or 2h for two hours ago')
    .option('--end <time>', 'up to this time')
    .action(action(list));
}

interface AuditOptions extends ListOptions {
  readonly start?: string;
  readonly end?: string;
}

async function list(session: Session, options: AuditOptions): Promise<void> {
  const [start, end] = [timeOption('--start', options.start), timeOption('--end', options.end)];
  const pages = session.platform().listAuditLogs({ ...(start && { start }), ...(end && { end }) });
  session.output.table(await first(countOf(options), pages), {
    time: ({ datetime }: AuditLogEntryResponse) => timeOf(datetime),
    user: ({ actor }: AuditLogEntryResponse) => actor.email,
    event: ({ event }: AuditLogEntryResponse) => event.action,
    outcome: ({ event }: AuditLogEntryResponse) => event.outcome.status,
    target: ({ target }: AuditLogEntryResponse) => target.name,
  });
}
