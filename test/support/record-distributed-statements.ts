import pg from 'pg';
import { DISTRIBUTED_TABLES } from '../../src/infrastructure/database/database.configuration.js';
import { leaveForReporter } from './run-directory.js';

/** In a cluster, other tests move the table, and no check is necessary. */
const isCluster = process.env.TEST_WORKER_URLS !== undefined;
const SERVICE = 'merchant-connectivity-service';

const tables = DISTRIBUTED_TABLES.map(({ table, column }) => ({
  // The table itself or one of its partitions, and not, for example, request_log_rollup.
  isRead: new RegExp(
    String.raw`\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:ONLY\s+)?${table}(?:_default|_\d{8}|_stray_\w+)?(?![\w.])`,
    'i',
  ),
  isRouted: new RegExp(String.raw`\b${column}\s*(?:=|IN\b)|INTO\s+${table}\s*\([^)]*\b${column}\b`, 'i'),
}));

const seen = new Set<string>();

/**
 * Records the statements of the service on tables that can be distributed. After the run, `whole-run.reporter.mjs` checks that
 * each of them names the column by which the table is distributed; without it, a statement runs on all shards.
 */
function record(statement: string): void {
  if (seen.has(statement)) return;
  seen.add(statement);
  // Those of migrations, which are not checked.
  if (/\b(?:CREATE|ALTER|DROP)\b/.test(statement)) return;
  for (const { isRead, isRouted } of tables) {
    if (!isRead.test(statement)) continue;
    const text = statement
      .replaceAll(/_stray_\w+/g, '_stray_*')
      .replaceAll(/\s+/g, ' ')
      .trim();
    leaveForReporter(
      'distributed-statements.txt',
      JSON.stringify({ isRouted: isRouted.test(statement), statement: text }),
    );
  }
}

interface Connection {
  readonly connectionParameters?: { readonly application_name?: string };
}

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: Connection, ...parameters: unknown[]): unknown {
  const [statement] = parameters as [string | { readonly text?: string }];
  const text = typeof statement === 'string' ? statement : statement?.text;
  const name = this.connectionParameters?.application_name ?? '';
  if (!isCluster && text !== undefined && name.startsWith(SERVICE)) record(text);
  return Reflect.apply(query, this, parameters);
} as typeof query;
