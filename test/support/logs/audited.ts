import type { TestApp } from '../test-app.js';

/** An entry as operation 4 returns it. */
export interface AuditEntry {
  readonly event: { readonly action: string; readonly outcome: { readonly status: string } };
  readonly actor: { readonly name: string; readonly email: string };
  readonly target: { readonly type: string; readonly name: string | null; readonly environment: string };
  readonly changes: readonly {
    readonly field: string;
    readonly from: string | null;
    readonly to: string | null;
  }[];
  readonly context: { readonly ip: string; readonly user_agent: string };
}

/** Returns the newest entries of the organization's audit log, newest first. */
export async function auditEntries(service: TestApp, as = service.production): Promise<AuditEntry[]> {
  const { body } = await service.request<{ data: AuditEntry[] }>('/audit_logs', { as });
  return body.data;
}

/** Returns the audit log entries that the work adds, as "action outcome target", oldest first. */
export async function auditedBy(service: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const before = await count(service);
  await work();
  const added = (await count(service)) - before;
  return (await auditEntries(service))
    .slice(0, added)
    .map(({ event, target }) => `${event.action} ${event.outcome.status} ${target.name}`)
    .toReversed();
}

async function count(service: TestApp): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM audit_log WHERE organization_id = $1',
    [service.organizationId],
  );
  return row?.count ?? 0;
}
